package cli_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/cli"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// screen keeps what a running command prints.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write keeps a part.
func (s *screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(text)
}

func (s *screen) shows(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.text.String(), text)
}

// await waits until the screen shows a text.
func (s *screen) await(t *testing.T, text string) {
	t.Helper()
	storetest.Wait(t, time.Minute, "the text "+text, func() bool { return s.shows(text) })
}

// started is a command that runs.
type started struct {
	stdout, stderr screen
	interrupt      func() int // ends it and returns its exit code
}

func start(t *testing.T, term *terminal, in io.Reader, args ...string) *started {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &started{}
	ended := make(chan int, 1)
	go func() { ended <- cli.Run(ctx, args, term.environ, in, &s.stdout, &s.stderr) }()
	s.interrupt = func() int { cancel(); return <-ended }
	t.Cleanup(cancel)
	return s
}

func watchedAccount(t *testing.T) (*terminal, *signalbox.Client) {
	t.Helper()
	node := apptest.Shared(t, "sqlite")
	key := node.Account(t, "watch", "pro")
	client, err := signalbox.New(node.URL, key)
	if err != nil {
		t.Fatal(err)
	}
	return newTerminal(t, "SIGNALBOX_URL="+node.URL, "SIGNALBOX_API_KEY="+key), client
}

func TestWatch(t *testing.T) {
	t.Parallel()
	term, _ := watchedAccount(t)
	term.must("flags", "create", "first")
	table := start(t, term, nil, "flags", "list", "--watch")
	lines := start(t, term, nil, "flags", "list", "--watch", "-o", "json")
	table.stdout.await(t, "first  BOOLEAN  false")
	lines.stdout.await(t, `{"kind":"flag","id":"first",`)
	term.must("flags", "create", "second")
	table.stdout.await(t, "second  BOOLEAN  false")
	lines.stdout.await(t, `{"kind":"flag","id":"second",`)
	term.must("flags", "delete", "first", "--yes")
	table.stdout.await(t, "first  (no longer listed)")
	lines.stdout.await(t, `{"gone":true,"id":"first","kind":"flag"}`)
	if table.interrupt() != 0 || lines.interrupt() != 0 {
		t.Error("ending it is a failure")
	}
	if got := strings.Count(table.stdout.text.String(), "BOOLEAN"); got != 2 {
		t.Errorf("it shows %d lines of flags:\n%s", got, table.stdout.text.String())
	}
}

// A run goes on when nobody waits for it any more: the command says so, and how to wait again.
func TestRunWait_Interrupted(t *testing.T) {
	t.Parallel()
	term, client := watchedAccount(t)
	full := &filled{terminal: term}
	full.addRuns(client)
	waiting := start(t, term, nil, "jobs", "run", "slow", "--wait")
	waiting.stderr.await(t, " of slow is ")
	if code := waiting.interrupt(); code != 1 {
		t.Errorf("the exit code is %d", code)
	}
	for _, want := range []string{"the run goes on", "signalbox runs watch 0", "signalbox runs cancel 0"} {
		if !waiting.stderr.shows(want) {
			t.Errorf("it does not say %q but\n%s", want, waiting.stderr.text.String())
		}
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	term, _ := watchedAccount(t)
	term.must("flags", "create", "checkout", "--name", "Checkout")
	editor := func(script string) *terminal {
		path := filepath.Join(t.TempDir(), "editor")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
		return &terminal{t: t, environ: append(term.environ, "EDITOR="+path, "TMPDIR="+t.TempDir(), "PATH="+os.Getenv("PATH"))}
	}
	tests := map[string]struct {
		script string
		args   []string
		code   int
		stdout string
		stderr string
	}{
		"nothing":       {"true", nil, 0, "Nothing was changed.", ""},
		"a dry run":     {`sed -i "s/^name:.*/name: Other/" "$1"`, []string{"--dry-run"}, 0, `+ name: "Other"`, ""},
		"without yes":   {`sed -i "s/^name:.*/name: Other/" "$1"`, nil, 2, `+ name: "Other"`, "your changes are kept in "},
		"a refusal":     {`sed -i s/BOOLEAN/NUMERIC/ "$1"`, []string{"--yes"}, 1, "", "default must be a number"},
		"no YAML":       {`echo ': [' > "$1"`, []string{"--yes"}, 1, "", "your changes are kept in "},
		"another id":    {`sed -i 's/id: checkout/id: other/' "$1"`, []string{"--yes"}, 2, "", "kind and id cannot be edited"},
		"a failure":     {"exit 3", nil, 2, "", "set EDITOR to another one"},
		"a competition": {`sed -i "s/^name:.*/name: Mine/" "$1"; COMPETE`, []string{"--yes"}, 4, `+ name: "Mine"`, "was changed by somebody else"},
	}
	for name, test := range tests { // one after the other: they share a flag
		t.Run(name, func(t *testing.T) {
			opened, changed := filepath.Join(t.TempDir(), "opened"), filepath.Join(t.TempDir(), "changed")
			script := strings.NewReplacer("COMPETE", "touch "+opened+"; i=0; until [ -e "+changed+" ] || [ $i -gt 6000 ]; do i=$((i+1)); sleep 0.01; done").Replace(test.script)
			if script != test.script {
				go compete(t, term, opened, changed)
			}
			got := editor(script).run(append([]string{"edit", "flag", "checkout"}, test.args...)...)
			if got.code != test.code || !strings.Contains(got.stdout, test.stdout) || !strings.Contains(got.stderr, test.stderr) {
				t.Errorf("got %+v", got)
			}
		})
	}
	got := editor(`sed -i s/name:.*/name:\ New/ "$1"`).run("edit", "flags", "checkout", "--yes")
	if got.code != 0 || !strings.HasSuffix(got.stdout, "Applied.\n") || !strings.Contains(term.must("flags", "get", "checkout"), "name: New") {
		t.Errorf("got %+v", got)
	}
}

// compete changes the flag as somebody else would, while an editor is open.
func compete(t *testing.T, term *terminal, opened, changed string) {
	storetest.Wait(t, time.Minute, "the editor", func() bool { _, err := os.Stat(opened); return err == nil })
	if got := term.run("flags", "edit", "checkout", "--name", "Theirs"); got.code != 0 {
		t.Errorf("got %+v", got)
	}
	if err := os.WriteFile(changed, nil, 0o600); err != nil {
		t.Error(err)
	}
}

// A newcomer copies the address that the server printed, and leaves something out.
func TestLogin_AddressWithoutScheme(t *testing.T) {
	t.Parallel()
	node := apptest.Shared(t, "sqlite")
	term := newTerminal(t)
	term.input = node.Account(t, "login", "pro")
	got := term.run("login", strings.TrimPrefix(node.URL, "http://")+"/")
	if got.code != 0 || !strings.Contains(got.stderr, " has no scheme; using "+node.URL+"\n") || !strings.Contains(got.stdout, " on "+node.URL+" now.") {
		t.Errorf("got %+v", got)
	}
	term.must("flags", "create", "beta")
	for _, url := range []string{node.URL, node.URL + "/", node.URL + "//"} {
		if listed := term.must("flags", "list", "--url", url, "-o", "name"); listed != "beta\n" {
			t.Errorf("%s: got %q", url, listed)
		}
	}
	const ok = `{"status": "ok"}` // as many programs answer any path
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(ok)) }))
	t.Cleanup(other.Close)
	foreign := "signalbox: " + other.URL + " answers, but not as Signalbox: it is another server, or a proxy in front of Signalbox (GET /api/"
	for name, test := range map[string]struct{ command, url, want string }{
		"health of another program":   {"health --url", other.URL, foreign + "readiness: the response is not"},
		"list of another program":     {"flags list --url", other.URL, foreign},
		"history of another program":  {"changes list --url", other.URL, foreign},
		"resource of another program": {"flags get beta --url", other.URL, foreign},
		"account of another program":  {"whoami --url", other.URL, foreign},
		"login to another program":    {"login", other.URL, foreign},
		"nothing there":               {"health --url", "127.0.0.1:1", "signalbox: http://127.0.0.1:1 does not answer; is the server running, and the URL right?"},
		"nothing there, with TLS":     {"health --url", "https://[::1]:1/", "signalbox: https://[::1]:1 does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			term := newTerminal(t, "SIGNALBOX_API_KEY=sk_api_x")
			term.input = "sk_api_x"
			if got := term.run(append(strings.Fields(test.command), test.url)...); got.code != 1 || !strings.Contains(got.stderr, test.want) || strings.Contains(got.stderr, "signalbox: signalbox:") {
				t.Errorf("got %+v", got)
			}
		})
	}
}
