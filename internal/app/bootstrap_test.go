package app_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

var (
	printedKey  = regexp.MustCompile(`sk_api_[A-Za-z0-9_-]{43}`)
	printedLink = regexp.MustCompile(`http://127\.0\.0\.1:[1-9][0-9]*/setup\?token=([A-Za-z0-9_-]{43})`)
)

func TestBootstrap_PrintsKeyOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := chosen(storetest.NewEmpty(t, kind), nil)
			first, printed, err := build(t, s)
			if err != nil {
				t.Fatal(err)
			}
			stop(t, first)
			keys := printedKey.FindAllString(printed, -1)
			if len(keys) != 1 {
				t.Fatalf("it printed %q", printed)
			}
			second, printed := run(t, s)
			if printed != "" {
				t.Errorf("the second start printed %q", printed)
			}
			newClient(t, "http://"+second.Address(), keys[0]).get(t, "/api/v1/environments/production", http.StatusOK)
		})
	}
}

func TestBootstrap_ManyNodesMakeOneAccount(t *testing.T) {
	t.Parallel()
	database := storetest.NewEmpty(t, "postgres")
	file := filepath.Join(database.Dir, "owner-key")
	s := chosen(database, func(s *settings.Settings) { s.BootstrapKeyFile = file })
	var mu sync.Mutex
	var printed []string // the printed texts that mention the key
	together(8, func(node int) {
		var stdout bytes.Buffer
		instance, err := app.New(t.Context(), s, slog.New(slog.DiscardHandler), &stdout)
		if err != nil {
			t.Errorf("node %d does not start: %v", node, err)
			return
		}
		defer stop(t, instance)
		mu.Lock()
		defer mu.Unlock()
		if stdout.Len() > 0 {
			printed = append(printed, stdout.String())
		}
	})
	if len(printed) != 1 {
		t.Fatalf("the nodes printed %q", printed)
	}
	key := readKeyFile(t, file)
	if list, keys := accountsAndKeys(t, s); len(list) != 1 || keys != 1 {
		t.Errorf("there are %d accounts with %d keys", len(list), keys)
	}
	instance, _ := run(t, s)
	newClient(t, "http://"+instance.Address(), key).get(t, "/api/v1/users/current", http.StatusOK)
}

// A key that is shown before the commit is worthless if the commit fails, and another node creates the account.
func TestBootstrap_ShowsKeyAfterCommit(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			database := storetest.NewEmpty(t, kind)
			var stored []int
			stdout := onWrite(func() {
				var count int
				if err := database.Raw(t).QueryRowContext(t.Context(), "SELECT count(*) FROM accounts").Scan(&count); err != nil {
					t.Error(err)
				}
				stored = append(stored, count)
			})
			instance, err := app.New(t.Context(), chosen(database, nil), slog.New(slog.DiscardHandler), stdout)
			if err != nil {
				t.Fatal(err)
			}
			stop(t, instance)
			if len(stored) == 0 || stored[0] != 1 {
				t.Errorf("when the key was shown, there were %v accounts", stored)
			}
		})
	}
}

// onWrite is an output that calls a function before each write.
type onWrite func()

func (f onWrite) Write(text []byte) (int, error) {
	f()
	return len(text), nil
}

// readKeyFile returns the key in a file. It checks that the file is private and
// contains only the key.
func readKeyFile(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	key := strings.TrimSpace(string(text))
	if err != nil || printedKey.FindString(key) != key || key == "" {
		t.Errorf("the file has %q, %v", text, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	return key
}

func TestBootstrap_ChosenKeyIsNotPrinted(t *testing.T) {
	t.Parallel()
	instance, printed := run(t, apptest.Settings(storetest.New(t, "sqlite")))
	if strings.Contains(printed, "sk_api_") || !printedLink.MatchString(printed) {
		t.Errorf("it printed %q", printed)
	}
	newClient(t, "http://"+instance.Address(), apptest.OwnerKey).get(t, "/api/v1/users/current", http.StatusOK)
}

func TestBootstrap_SetupLinkWorks(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			instance, printed := run(t, apptest.Settings(storetest.NewEmpty(t, kind)))
			link := printedLink.FindStringSubmatch(printed)
			if len(link) != 2 {
				t.Fatalf("it printed %q", printed)
			}
			body := `{"token":"` + link[1] + `","email":"ada@example.com","name":"Ada","password":"correct horse battery"}`
			for _, want := range []int{http.StatusCreated, http.StatusNotFound} {
				response, err := http.Post("http://"+instance.Address()+"/api/v1/links/redeem", "application/json", strings.NewReader(body)) //nolint:noctx // a test
				if err != nil {
					t.Fatal(err)
				}
				_ = response.Body.Close()
				if response.StatusCode != want {
					t.Errorf("got %d, want %d", response.StatusCode, want)
				}
			}
		})
	}
}

func TestBootstrap_ChosenKeyOnlyAtFirstStart(t *testing.T) {
	t.Parallel()
	s := apptest.Settings(storetest.New(t, "sqlite"))
	first, _, err := build(t, s)
	if err != nil {
		t.Fatal(err)
	}
	stop(t, first)
	s.BootstrapKey = "another key of at least twenty"
	second, _ := run(t, s)
	newClient(t, "http://"+second.Address(), s.BootstrapKey).get(t, "/api/v1/users/current", http.StatusUnauthorized)
	newClient(t, "http://"+second.Address(), apptest.OwnerKey).get(t, "/api/v1/users/current", http.StatusOK)
}

func TestBootstrap_KeyFileOnly(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("something longer than any key can be "+strings.Repeat("x", 100)), 0o644); err != nil {
		t.Fatal(err)
	}
	s := chosen(database, func(s *settings.Settings) { s.BootstrapKeyFile = file })
	instance, printed := run(t, s)
	if strings.Contains(printed, "sk_api_") || !strings.Contains(printed, file) || !printedLink.MatchString(printed) {
		t.Errorf("it printed %q", printed)
	}
	newClient(t, "http://"+instance.Address(), readKeyFile(t, file)).get(t, "/api/v1/users/current", http.StatusOK)
}

// If the key cannot be written, no account is created: nobody would have its
// key.
func TestBootstrap_UnwritableKeyFile(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	file := filepath.Join(t.TempDir(), "no", "such", "folder")
	refuses(t, chosen(database, func(s *settings.Settings) { s.BootstrapKeyFile = file }), "bootstrap key file")
	s := chosen(database, nil)
	if list, _ := accountsAndKeys(t, s); len(list) != 0 {
		t.Errorf("there are %d accounts", len(list))
	}
	if _, printed := run(t, s); len(printedKey.FindAllString(printed, -1)) != 1 {
		t.Errorf("the next start printed %q", printed)
	}
}

func TestBootstrap_Plan(t *testing.T) {
	t.Parallel()
	all := func(plan string) map[string]string {
		return map[string]string{"jobs": plan, "flags": plan, "logging": plan, "config": plan}
	}
	mixed := all("free")
	mixed["jobs"] = "standard"
	for plan, want := range map[string]map[string]string{"pro": all("pro"), "free": all("free"), "jobs=standard": mixed} {
		t.Run(plan, func(t *testing.T) {
			t.Parallel()
			s := apptest.Settings(storetest.New(t, "sqlite"))
			s.BootstrapPlan = plan
			instance, _ := run(t, s)
			got := newClient(t, "http://"+instance.Address(), apptest.OwnerKey).plans(t)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the plans differ (-want +got):\n%s", diff)
			}
		})
	}
	s := apptest.Settings(storetest.New(t, "sqlite"))
	s.BootstrapPlan = "gold"
	refuses(t, s, "SIGNALBOX_BOOTSTRAP_PLAN")
}

func TestPlans_FromFile(t *testing.T) {
	t.Parallel()
	table := plans.BuiltIn()
	table["gold"] = table["pro"]
	table["free"][plans.PlatformManagedEnvironments] = 1
	text, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) string {
		file := filepath.Join(t.TempDir(), "plans.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	s := apptest.Settings(storetest.New(t, "sqlite"))
	s.Plans, s.BootstrapPlan = write(string(text)), "jobs=gold"
	instance, _ := run(t, s)
	got := newClient(t, "http://"+instance.Address(), apptest.OwnerKey).plans(t)
	if got["jobs"] != "gold" || got["flags"] != "free" {
		t.Errorf("the plans are %v", got)
	}
	for name, each := range map[string]struct{ file, says string }{
		"a missing file":  {filepath.Join(t.TempDir(), "none"), "plans file"},
		"no JSON":         {write("free"), "plans file"},
		"a missing limit": {write(`{"free":{}}`), "is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			s := apptest.Settings(storetest.New(t, "sqlite"))
			s.Plans = each.file
			refuses(t, s, each.says)
		})
	}
}

func TestDataFolder_IsPrivate(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	database.Dir = filepath.Join(database.Dir, "made", "by itself")
	run(t, apptest.Settings(database))
	info, err := os.Stat(database.Dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("it is %v, %v", info, err)
	}
	for _, name := range []string{"keyring", "signalbox.db"} {
		info, err := os.Stat(filepath.Join(database.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s has mode %v", name, info.Mode())
	}
}
