package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/cli"
)

// outcome is what a command left behind.
type outcome struct {
	code           int
	stdout, stderr string
}

// terminal runs commands on one data folder.
type terminal struct {
	t       *testing.T
	environ []string
}

func newTerminal(t *testing.T, environ ...string) *terminal {
	t.Helper()
	return &terminal{t, append([]string{"SIGNALBOX_DATA=" + t.TempDir()}, environ...)}
}

// run runs a command.
func (term *terminal) run(args ...string) outcome {
	term.t.Helper()
	return term.runUntil(term.t.Context(), args...)
}

func (term *terminal) runUntil(ctx context.Context, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := cli.Run(ctx, args, term.environ, &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

// must runs a command that has to work without a word on stderr, and returns
// what it printed.
func (term *terminal) must(args ...string) string {
	term.t.Helper()
	got := term.run(args...)
	if got.code != 0 || got.stderr != "" {
		term.t.Fatalf("signalbox %s: exit code %d, stderr %q", strings.Join(args, " "), got.code, got.stderr)
	}
	return got.stdout
}

// decode runs a command with --json and reads what it prints, which has to be
// one line.
func decode[T any](term *terminal, args ...string) T {
	term.t.Helper()
	text := term.must(append(args, "--json")...)
	var value T
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		term.t.Fatalf("%v in %s", err, text)
	}
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		term.t.Errorf("it is not one line: %q", text)
	}
	return value
}

func TestRun_UsageErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		want string // in the complaint
	}{
		"unknown flag":             {[]string{"serve", "--no-such-flag"}, "unknown flag: --no-such-flag"},
		"unknown flag of the root": {[]string{"--no-such-flag"}, "unknown flag: --no-such-flag"},
		"flag without a value":     {[]string{"serve", "--listen"}, "flag needs an argument: --listen"},
		"not a duration":           {[]string{"keys", "create", "--expires-in", "soon"}, `invalid argument "soon" for "--expires-in" flag`},
		"serve with an argument":   {[]string{"serve", "now"}, "signalbox serve takes"},
		"migrate with an argument": {[]string{"migrate", "now"}, "signalbox migrate takes"},
		"a group alone":            {[]string{"keys"}, "signalbox keys needs a command; see signalbox keys --help"},
		"another group alone":      {[]string{"keyring"}, "signalbox keyring needs a command; see signalbox keyring --help"},
		"no key for a server":      {[]string{"events", "tail"}, "there is no API key; set SIGNALBOX_API_KEY or --api-key"},
		"no server at all":         {[]string{"events", "tail", "--api-key", "k", "--url", "nowhere"}, "is not an absolute http or https URL"},
		"an argument is missing":   {[]string{"keys", "revoke"}, "see signalbox keys revoke --help"},
		"one of two is missing":    {[]string{"accounts", "plan", "acme"}, "see signalbox accounts plan --help"},
		"too many":                 {[]string{"accounts", "create", "a", "b"}, "see signalbox accounts create --help"},
		"a wrong setting":          {[]string{"accounts", "list", "--log-level", "loud"}, `--log-level (SIGNALBOX_LOG_LEVEL): "loud" is not debug, info, warn or error`},
		"a wrong serve setting":    {[]string{"serve", "--listen", "here"}, `--listen (SIGNALBOX_LISTEN): "here" is not host:port`},
		"a missing settings file":  {[]string{"migrate", "--config", "none.env"}, "SIGNALBOX_CONFIG: the file cannot be read"},

		"too many names for a key":     {[]string{"keys", "create", "a", "b"}, "signalbox keys create"},
		"no such command":              {[]string{"start"}, "start"},
		"no such command of a group":   {[]string{"keys", "destroy"}, "destroy"},
		"no such command of accounts":  {[]string{"accounts", "delete", "acme"}, "delete"},
		"a flag of another command":    {[]string{"migrate", "--listen", ":1"}, "unknown flag: --listen"},
		"a command after its argument": {[]string{"keys", "list", "all"}, "see signalbox keys list --help"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := newTerminal(t).run(test.args...)
			if got.code != 2 {
				t.Errorf("the exit code is %d", got.code)
			}
			if !strings.HasPrefix(got.stderr, "signalbox: ") || !strings.Contains(got.stderr, test.want) {
				t.Errorf("stderr is %q", got.stderr)
			}
			if got.stdout != "" {
				t.Errorf("stdout is %q", got.stdout)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"--help":                {"Usage:", "serve", "migrate", "keys", "accounts", "keyring", "events"},
		"events tail --help":    {"--since NUMBER", "SIGNALBOX_URL", "SIGNALBOX_API_KEY", "--json"},
		"serve --help":          {"--listen HOST:PORT", "SIGNALBOX_LISTEN, default: 127.0.0.1:8080", "--shutdown-timeout"},
		"keys --help":           {"create", "list", "revoke"},
		"keys create --help":    {"[NAME]", "--role", `(default "MEMBER")`, "--environment", "--expires-in", "--account", "--json", "--data DIRECTORY"},
		"keys revoke --help":    {"revoke ID"},
		"accounts --help":       {"create", "list", "plan"},
		"accounts plan --help":  {"ACCOUNT PLAN", "keep their plan"},
		"keyring rotate --help": {"Old keys stay in the ring"},
		"migrate --help":        {"Bring the database schema up to date"},
		"help accounts create":  {"create NAME", "--plan", "jobs=pro,logging=free"},
		"completion bash":       {"signalbox"},
	}
	for line, wants := range tests {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			text := newTerminal(t, "SIGNALBOX_LISTEN=broken").must(strings.Fields(line)...) // help needs no settings
			for _, want := range wants {
				if !strings.Contains(text, want) {
					t.Errorf("the help lacks %q:\n%s", want, text)
				}
			}
		})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	if text := newTerminal(t).must("--version"); text != "signalbox dev\n" {
		t.Errorf("got %q", text)
	}
}

func TestSettings_AllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	got := newTerminal(t, "SIGNALBOX_LISTEN=abc", "SIGNALBOX_TLS_KEY=k.pem", "SIGNALBOX_BOOTSTRAP_KEY=hunter2", "SIGNALBOX_RETENTIONS=x").
		run("serve", "--rate-limit", "-1")
	if got.code != 2 || got.stdout != "" {
		t.Errorf("got %+v", got)
	}
	for _, want := range []string{
		"signalbox: SIGNALBOX_RETENTIONS is not a setting and is ignored; did you mean SIGNALBOX_RETENTION?\n",
		`SIGNALBOX_LISTEN: "abc" is not host:port`, `--rate-limit (SIGNALBOX_RATE_LIMIT): "-1" is negative`,
		"SIGNALBOX_TLS_CERT and SIGNALBOX_TLS_KEY: only one is set", "SIGNALBOX_BOOTSTRAP_KEY: the value is not",
	} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("stderr lacks %q:\n%s", want, got.stderr)
		}
	}
	if strings.Contains(got.stderr, "hunter2") {
		t.Errorf("stderr tells a secret:\n%s", got.stderr)
	}
}

// Every line of a complaint names the program, so that it can be told from the
// rest of a log.
func TestSettings_EveryLineNamesProgram(t *testing.T) {
	t.Parallel()
	got := newTerminal(t, "SIGNALBOX_LISTEN=abc", "SIGNALBOX_RETENTION=0").run("serve")
	for line := range strings.Lines(got.stderr) {
		if !strings.HasPrefix(line, "signalbox: ") {
			t.Errorf("a line is %q", line)
		}
	}
}

func TestSettings_Warnings(t *testing.T) {
	t.Parallel()
	got := newTerminal(t, "SIGNALBOX_LISTN=secret").run("migrate", "--json")
	if got.code != 0 || got.stdout != "{\"migrated\":true}\n" {
		t.Errorf("got %+v", got)
	}
	if got.stderr != "signalbox: SIGNALBOX_LISTN is not a setting and is ignored; did you mean SIGNALBOX_LISTEN?\n" {
		t.Errorf("stderr is %q", got.stderr)
	}
}
