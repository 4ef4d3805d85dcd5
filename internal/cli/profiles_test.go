package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/app/apptest"
)

// folder returns where a terminal's profiles are.
func (term *terminal) profileFile() string {
	for _, entry := range term.environ {
		if folder, is := strings.CutPrefix(entry, "XDG_CONFIG_HOME="); is {
			return filepath.Join(folder, "signalbox", "profiles.json")
		}
	}
	return ""
}

func TestLogin_SavesProfile(t *testing.T) {
	t.Parallel()
	node := apptest.Shared(t, "sqlite")
	term := newTerminal(t)
	term.input = node.Account(t, "login", "pro") + "\n"
	matches(t, `^You use the account login-\d+ on `+node.URL+` now\. It is saved as the profile default in .*profiles\.json\.\n$`, term.must("login", node.URL))
	if info, err := os.Stat(term.profileFile()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info, err)
	}
	term.input = ""
	term.must("events", "tail", "--since", "999999", "--count", "1") // the saved key is used

	other := node.Account(t, "other", "pro")
	term.must("login", node.URL, "--profile", "other", "--api-key", other)
	if list := term.must("profiles"); list != "  default  "+node.URL+"\n* other  "+node.URL+"\n" {
		t.Errorf("got %q", list)
	}
	term.must("profiles", "default")
	term.must("logout", "--profile", "other")
	if list := term.must("profiles"); list != "* default  "+node.URL+"\n" {
		t.Errorf("got %q", list)
	}
	term.must("logout")
	if got := term.run("events", "tail"); got.code != 2 || !strings.Contains(got.stderr, "there is no API key for") {
		t.Errorf("got %+v", got)
	}
}

// A key must reach no other server than the one it was saved for.
func TestLogin_KeyIsForItsServerAlone(t *testing.T) {
	t.Parallel()
	node := apptest.Shared(t, "sqlite")
	term := newTerminal(t)
	term.must("login", node.URL, "--api-key", node.Account(t, "alone", "pro"))
	if got := term.run("events", "tail", "--url", "http://127.0.0.1:1"); got.code != 2 || !strings.Contains(got.stderr, "there is no API key for http://127.0.0.1:1;") {
		t.Errorf("got %+v", got)
	}
}

func TestLogin_Refusals(t *testing.T) {
	t.Parallel()
	node := apptest.Shared(t, "sqlite")
	term := newTerminal(t)
	if got := term.run("login", node.URL, "--api-key", "sk_api_wrong"); got.code != 6 || got.stdout != "" || strings.Contains(got.stderr, "sk_api_wrong") {
		t.Errorf("a wrong key: %+v", got)
	}
	if got := term.run("login", node.URL); got.code != 2 {
		t.Errorf("no key: %+v", got)
	}
	if _, err := os.Stat(term.profileFile()); !os.IsNotExist(err) {
		t.Errorf("a refused login left a file: %v", err)
	}
	for _, args := range [][]string{{"profiles", "none"}, {"logout", "--profile", "none"}, {"events", "tail", "--profile", "none"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			if got := term.in(t).run(args...); got.code != 2 || !strings.Contains(got.stderr, "there is no profile") {
				t.Errorf("%v: %+v", args, got)
			}
		})
	}
	if got := term.run("logout"); got.code != 2 || got.stderr != "signalbox: you are not signed in\n" {
		t.Errorf("a logout of nothing: %+v", got)
	}
	term.must("login", node.URL, "--api-key", node.Account(t, "refusals", "pro"))
	if err := os.Chmod(term.profileFile(), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := term.run("profiles"); got.code != 1 || !strings.Contains(got.stderr, "can be read by others: run chmod 600") {
		t.Errorf("got %+v", got)
	}
}
