package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const secretPattern = `sk_api_[A-Za-z0-9_-]{43}`

// made is the output of creating an account or a key with --json.
type made struct {
	Account string `json:"account"`
	Key     string `json:"key"`
	KeyID   string `json:"key_id"`
}

// account is an account as --json shows it.
type account struct {
	ID        string            `json:"id"`
	Key       string            `json:"key"`
	Name      string            `json:"name"`
	Plans     map[string]string `json:"plans"`
	CreatedAt time.Time         `json:"created_at"`
	UpdatedAt time.Time         `json:"updated_at"`
}

func matches(t *testing.T, pattern, text string) {
	t.Helper()
	if !regexp.MustCompile(pattern).MatchString(text) {
		t.Errorf("%q does not match %s", text, pattern)
	}
}

func plansOf(plan string) map[string]string {
	return map[string]string{"jobs": plan, "flags": plan, "logging": plan, "config": plan}
}

func TestAccounts_Create(t *testing.T) {
	t.Parallel()
	term := newTerminal(t)
	matches(t, `^The account acme-inc is created\. Its API key, with the role OWNER, is shown only now:\n\n    `+secretPattern+`\n\n$`,
		term.must("admin", "accounts", "create", "Acme, Inc."))

	globex := decode[made](term, "admin", "accounts", "create", "Globex", "--plan", "jobs=standard,logging=pro")
	matches(t, `^`+secretPattern+`$`, globex.Key)
	matches(t, `^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$`, globex.KeyID)
	if globex.Account != "globex" {
		t.Errorf("got %+v", globex)
	}
	list := decode[[]account](term, "admin", "accounts", "list")
	if len(list) != 2 || list[0].Name != "Acme, Inc." || list[1].Key != "globex" || list[1].ID == "" || list[1].CreatedAt.IsZero() {
		t.Fatalf("got %+v", list)
	}
	if diff := cmp.Diff(plansOf("pro"), list[0].Plans); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"jobs": "standard", "flags": "free", "logging": "pro", "config": "free"}, list[1].Plans); diff != "" {
		t.Error(diff)
	}
}

func TestAccounts_List(t *testing.T) {
	t.Parallel()
	term := newTerminal(t)
	if got := term.run("admin", "accounts", "list"); got.code != 1 || !strings.Contains(got.stderr, "there is no database in ") {
		t.Errorf("a folder without a database: %+v", got)
	}
	term.must("admin", "migrate")
	if text := term.must("admin", "accounts", "list", "--json"); text != "[]\n" {
		t.Errorf("no account is %q", text)
	}
	if text := term.must("admin", "accounts", "list"); text != "KEY  NAME  PLANS  CREATED\n" {
		t.Errorf("no account is %q", text)
	}
	term.must("admin", "accounts", "create", "A <b> & c", "--plan", "free")
	matches(t, `^KEY +NAME +PLANS +CREATED\na-b-c +A <b> & c +jobs=free,flags=free,logging=free,config=free +\d{4}-\d\d-\d\d\n$`, term.must("admin", "accounts", "list"))
	if text := term.must("admin", "accounts", "list", "--json"); !strings.Contains(text, `"name":"A <b> & c"`) {
		t.Errorf("JSON for a terminal is escaped for a browser: %s", text)
	}
}

func TestAccounts_Plan(t *testing.T) {
	t.Parallel()
	term := newTerminal(t)
	term.must("admin", "accounts", "create", "Acme", "--plan", "free")
	if text := term.must("admin", "accounts", "plan", "acme", "flags=pro, jobs=standard"); text != "Account acme is now on jobs=standard,flags=pro,logging=free,config=free.\n" {
		t.Errorf("got %q", text)
	}
	changed := decode[account](term, "admin", "accounts", "plan", "acme", "pro")
	if diff := cmp.Diff(plansOf("pro"), changed.Plans); diff != "" || changed.Key != "acme" || changed.ID == "" {
		t.Error(diff, changed)
	}
}

func TestAccounts_Refusals(t *testing.T) {
	t.Parallel()
	term := newTerminal(t)
	term.must("admin", "accounts", "create", "Acme")
	tests := map[string]struct {
		args []string
		code int
		want string
	}{
		"the name is taken":    {[]string{"admin", "accounts", "create", "Acme"}, 4, "signalbox: There is an account called \"Acme\" already.\n"},
		"the key is taken":     {[]string{"admin", "accounts", "create", "ACME"}, 4, "signalbox: There is an account called \"ACME\" already.\n"},
		"no name":              {[]string{"admin", "accounts", "create", ""}, 1, "signalbox: name must have 1 to 255 characters.\n"},
		"a long name":          {[]string{"admin", "accounts", "create", strings.Repeat("ä", 256)}, 1, "signalbox: name must have 1 to 255 characters.\n"},
		"no such plan":         {[]string{"admin", "accounts", "create", "B", "--plan", "gold"}, 1, "signalbox: there is no plan \"gold\"; the plans are free, pro, standard\n"},
		"no plan":              {[]string{"admin", "accounts", "create", "B", "--plan", ""}, 1, "signalbox: there is no plan \"\"; the plans are free, pro, standard\n"},
		"no such product":      {[]string{"admin", "accounts", "plan", "acme", "cars=pro"}, 1, "signalbox: there is no product \"cars\"; the products are jobs, flags, logging and config\n"},
		"half a wish":          {[]string{"admin", "accounts", "plan", "acme", "jobs=pro,"}, 1, "signalbox: there is no plan \"\"; the plans are free, pro, standard\n"},
		"no such account":      {[]string{"admin", "accounts", "plan", "nobody", "pro"}, 3, "signalbox: There is no account \"nobody\""},
		"a plans file is gone": {[]string{"admin", "accounts", "list", "--plans", "none.json"}, 1, "signalbox: opening the plans file: "},
	}
	for name, test := range tests { // one after the other: they share a database
		t.Run(name, func(t *testing.T) {
			got := term.run(test.args...)
			if got.code != test.code || got.stdout != "" || !strings.HasPrefix(got.stderr, test.want) {
				t.Errorf("got %+v", got)
			}
			if quiet := term.run(append(test.args, "--json")...); quiet.code != test.code || quiet.stdout != "" || quiet.stderr != got.stderr {
				t.Errorf("with --json got %+v", quiet)
			}
		})
	}
	if list := decode[[]account](term, "admin", "accounts", "list"); len(list) != 1 {
		t.Errorf("a refused command made %+v", list)
	}
}

func TestAccounts_PlansFile(t *testing.T) {
	t.Parallel()
	term := newTerminal(t)
	file := filepath.Join(t.TempDir(), "plans.json")
	limits := `"jobs.included_runs":1,"jobs.active_jobs":1,"jobs.max_timeout_seconds":1,"logging.managed_loggers":1,"logging.groups":1,` +
		`"platform.managed_environments":1,"flags.items":1,"flags.rules":1,"config.items":1`
	if err := os.WriteFile(file, []byte(`{"free":{`+limits+`},"huge":{`+limits+`}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	term.environ = append(term.environ, "SIGNALBOX_PLANS="+file)
	if text := term.must("admin", "accounts", "create", "Acme", "--plan", "huge"); !strings.HasPrefix(text, "The account acme is created.") {
		t.Errorf("got %q", text)
	}
	if got := term.run("admin", "accounts", "create", "Other"); got.code != 1 || !strings.Contains(got.stderr, "the plans are free, huge") {
		t.Errorf("the default plan is not in the operator's table: %+v", got)
	}
}
