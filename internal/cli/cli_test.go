package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/signalbox/signalbox/internal/cli"
)

// outcome is the result of a command.
type outcome struct {
	code           int
	stdout, stderr string
}

// terminal runs commands on one data folder.
type terminal struct {
	t       *testing.T
	environ []string
	input   string
}

func newTerminal(t *testing.T, environ ...string) *terminal {
	t.Helper()
	return &terminal{t: t, environ: append([]string{"SIGNALBOX_DATA=" + t.TempDir(), "XDG_CONFIG_HOME=" + t.TempDir()}, environ...)}
}

// in returns the same terminal for a subtest.
func (term *terminal) in(t *testing.T) *terminal {
	t.Helper()
	return &terminal{t: t, environ: term.environ, input: term.input}
}

// run runs a command.
func (term *terminal) run(args ...string) outcome {
	term.t.Helper()
	return term.runUntil(term.t.Context(), args...)
}

func (term *terminal) runUntil(ctx context.Context, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := cli.Run(ctx, args, term.environ, strings.NewReader(term.input), &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

// must runs a command that must succeed without output on stderr, and returns its
// output.
func (term *terminal) must(args ...string) string {
	term.t.Helper()
	got := term.run(args...)
	if got.code != 0 || got.stderr != "" {
		term.t.Fatalf("signalbox %s: exit code %d, stderr %q", strings.Join(args, " "), got.code, got.stderr)
	}
	return got.stdout
}

// decode runs a command with --json and decodes its output, which must be one line.
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
		"unknown letter of a flag": {[]string{"changes", "list", "-e", "production"}, "unknown flag: -e; see signalbox changes list --help"},
		"flag without a value":     {[]string{"serve", "--listen"}, "flag needs an argument: --listen"},
		"not a duration":           {[]string{"admin", "keys", "create", "--expires-in", "soon"}, `invalid argument "soon" for "--expires-in" flag`},
		"serve with an argument":   {[]string{"serve", "now"}, "signalbox serve takes"},
		"migrate with an argument": {[]string{"admin", "migrate", "now"}, "signalbox admin migrate takes"},
		"a group alone":            {[]string{"admin", "keys"}, "signalbox admin keys needs a command; see signalbox admin keys --help"},
		"another group alone":      {[]string{"admin", "keyring"}, "signalbox admin keyring needs a command; see signalbox admin keyring --help"},
		"no key for a server":      {[]string{"events", "tail"}, "there is no API key for http://127.0.0.1:8080; run signalbox login, or set SIGNALBOX_API_KEY or --api-key"},
		"no server at all":         {[]string{"events", "tail", "--api-key", "k", "--url", "ftp://nowhere"}, "is not an absolute http or https URL"},
		"an argument is missing":   {[]string{"admin", "keys", "revoke"}, "see signalbox admin keys revoke --help"},
		"one of two is missing":    {[]string{"admin", "accounts", "plan", "acme"}, "see signalbox admin accounts plan --help"},
		"too many":                 {[]string{"admin", "accounts", "create", "a", "b"}, "see signalbox admin accounts create --help"},
		"a wrong setting":          {[]string{"admin", "accounts", "list", "--log-level", "loud"}, `--log-level (SIGNALBOX_LOG_LEVEL): "loud" is not debug, info, warn or error`},
		"a wrong serve setting":    {[]string{"serve", "--listen", "here"}, `--listen (SIGNALBOX_LISTEN): "here" is not host:port`},
		"a missing settings file":  {[]string{"admin", "migrate", "--config", "none.env"}, "SIGNALBOX_CONFIG: the file cannot be read"},

		"too many names for a key":     {[]string{"admin", "keys", "create", "a", "b"}, "signalbox admin keys create"},
		"no such command":              {[]string{"start"}, "start"},
		"no such command of a group":   {[]string{"admin", "keys", "destroy"}, "destroy"},
		"no such command of accounts":  {[]string{"admin", "accounts", "delete", "acme"}, "delete"},
		"a flag of another command":    {[]string{"admin", "migrate", "--listen", ":1"}, "unknown flag: --listen"},
		"a command after its argument": {[]string{"admin", "keys", "list", "all"}, "see signalbox admin keys list --help"},
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
		"--help":                      {"Usage:", "serve", "admin", "events"},
		"events tail --help":          {"--since NUMBER", "SIGNALBOX_URL", "SIGNALBOX_API_KEY", "-o, --output FORMAT"},
		"serve --help":                {"--listen HOST:PORT", "SIGNALBOX_LISTEN, default: 127.0.0.1:8080", "--shutdown-timeout"},
		"admin keys --help":           {"create", "list", "revoke"},
		"admin keys create --help":    {"[NAME]", "--role", `(default "MEMBER")`, "--environment", "--expires-in", "--account", "--json", "--data DIRECTORY"},
		"admin keys revoke --help":    {"revoke ID"},
		"admin accounts --help":       {"create", "list", "plan"},
		"admin accounts plan --help":  {"ACCOUNT PLAN", "keep their plan"},
		"admin keyring rotate --help": {"Old keys stay in the ring"},
		"admin migrate --help":        {"Bring the database schema up to date"},
		"help admin accounts create":  {"create NAME", "--plan", "jobs=pro,logging=free"},
		"completion bash":             {"signalbox"},
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
	got := newTerminal(t, "SIGNALBOX_LISTN=secret").run("admin", "migrate", "--json")
	if got.code != 0 || got.stdout != "{\"migrated\":true}\n" {
		t.Errorf("got %+v", got)
	}
	if got.stderr != "signalbox: SIGNALBOX_LISTN is not a setting and is ignored; did you mean SIGNALBOX_LISTEN?\n" {
		t.Errorf("stderr is %q", got.stderr)
	}
}

// fullDisk refuses every write.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
}

func TestRun_ResultCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"validate -f -", "--help", "admin keyring generate", "completion bash"} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			var stderr bytes.Buffer
			input := strings.NewReader("{kind: flag, id: a, type: BOOLEAN, default: false}")
			code := cli.Run(t.Context(), strings.Fields(line), nil, input, fullDisk{}, &stderr)
			if code != 1 || stderr.String() != "signalbox: write /dev/stdout: no space left on device\n" {
				t.Errorf("exit code %d, stderr %q", code, stderr.String())
			}
		})
	}
}
