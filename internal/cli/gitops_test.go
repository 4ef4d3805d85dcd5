package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A failure never looks like a difference, and every problem is in the summary on stdout and in the errors on
// stderr.
func TestDiff_Failures(t *testing.T) {
	t.Parallel()
	term, _ := newAccount(t)
	viewer := strings.TrimSpace(term.must("keys", "create", "Looks", "--role", "VIEWER", "-o", "go-template={{.key}}"))
	const good = "{kind: flag, id: good, type: BOOLEAN, default: false}\n---\n"
	tests := map[string]struct {
		text   string
		args   []string
		code   int
		stdout string
		stderr string
	}{
		"different":              {good, nil, 10, "+ flag good\n", ""},
		"different for a viewer": {good, []string{"--api-key", viewer}, 10, "+ flag good\n", ""},
		"a refused resource":     {good + "{kind: flag, id: bad, type: BOOLEAN, default: 3}", nil, 1, "! flag bad  (", ": flag bad: "},
		"the rest of it":         {good + "{kind: flag, id: bad, type: BOOLEAN, default: 3}", nil, 1, "+ flag good\n", ""},
		"its count":              {good + "{kind: flag, id: bad, type: BOOLEAN, default: 3}", nil, 1, "1 to create, 0 to change, 0 to delete, 0 the same, 1 refused.\n", ""},
		"a broken file":          {"kind: [flag", nil, 1, "There is no plan.\n", "yaml: line"},
		"two broken resources":   {"{kind: flga, id: a}\n---\n{kind: job}", nil, 1, ":3: the job has no id", ":1: there is no kind"},
		"the server is down":     {good, []string{"--url", "http://127.0.0.1:1"}, 1, "There is no plan.\n", "connection refused"},
		"a wrong key":            {good, []string{"--api-key", "sk_api_wrong"}, 6, "There is no plan.\n", "signalbox: "},
		"another owner":          {good, []string{"--prune"}, 2, "", "need --owner"},
		"a cycle":                {"- {kind: config, id: a, parent: b}\n- {kind: config, id: b, parent: a}", nil, 1, "    parent: configs must not inherit from themselves: a → b → a\n", ": config b: parent: configs must not inherit from themselves: b → a → b\n"},
		"a secret":               {`{kind: job, id: j, name: j, schedule: now, configuration: {url: "https://a.example", headers: [{name: A, valueFrom: "env:NONE"}]}}`, nil, 1, "the variable NONE is not set", "the variable NONE is not set"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := term.run(append([]string{"diff", "-f", term.file(test.text)}, test.args...)...)
			if got.code != test.code || !strings.Contains(got.stdout, test.stdout) || !strings.Contains(got.stderr, test.stderr) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// A plan of a viewer is applied by a key that may write, once.
func TestApply_SavedPlan(t *testing.T) {
	t.Parallel()
	term, client := newAccount(t, "TOKEN=swordfish")
	viewer := strings.TrimSpace(term.must("keys", "create", "Looks", "--role", "VIEWER", "-o", "go-template={{.key}}"))
	term.must("apply", "-f", term.file("{kind: log_group, id: sql, level: INFO}"))
	term.must("configs", "list") // which makes the common one
	file, saved := term.file(everything), filepath.Join(t.TempDir(), "release.plan")
	before := lastChange(t, client)
	if got := term.run("apply", "-f", file, "--plan", saved, "--api-key", viewer); got.code != 0 || !strings.Contains(got.stdout, "8 to create, 1 to change") {
		t.Fatalf("got %+v", got)
	}
	if after := lastChange(t, client); after != before {
		t.Errorf("a plan made changes %s to %s", before, after)
	}
	text, err := os.ReadFile(saved)
	if err != nil || !json.Valid(text) || strings.Contains(string(text), "swordfish") {
		t.Errorf("the plan is %s, %v", text, err)
	}
	term.must("groups", "set", "sql", "ERROR")
	if got := term.run("apply", saved); got.code != 4 || got.stderr != "signalbox: log_group sql was changed since the plan was made\n" || strings.Contains(got.stdout, "Applied") {
		t.Errorf("got %+v", got)
	}
	term.must("groups", "set", "sql", "INFO")
	if text := term.must("apply", saved); !strings.HasSuffix(text, "Applied.\n") {
		t.Errorf("got %s", text)
	}
	term.must("diff", "-f", file)
	if got := term.run("apply", saved); got.code != 4 || strings.Count(got.stderr, " since the plan was made\n") != 9 {
		t.Errorf("a second time: %+v", got)
	}
}

func TestApply_WrongUse(t *testing.T) {
	t.Parallel()
	term, _ := newAccount(t)
	file := term.file("{kind: flag, id: a, type: BOOLEAN, default: false}")
	tests := map[string]struct {
		args []string
		want string
	}{
		"nothing":               {[]string{"apply"}, "signalbox apply needs files: add -f, such as -f signalbox/"},
		"nothing to compare":    {[]string{"diff"}, "signalbox diff needs files"},
		"nothing to validate":   {[]string{"validate"}, "signalbox validate needs files"},
		"a plan and files":      {[]string{"apply", "a.plan", "-f", file}, "a plan has its files and its owner"},
		"a plan and an owner":   {[]string{"apply", "a.plan", "--owner", "me"}, "a plan has its files and its owner"},
		"a plan of a plan":      {[]string{"apply", "a.plan", "--plan", "b.plan"}, "a plan has its files and its owner"},
		"a plan that is not":    {[]string{"apply", filepath.Join(t.TempDir(), "none.plan")}, "none.plan"},
		"a file that is not":    {[]string{"validate", "-f", filepath.Join(t.TempDir(), "none.yaml")}, "none.yaml"},
		"a plan for diff":       {[]string{"diff", "a.plan"}, "signalbox diff takes no arguments"},
		"two plans":             {[]string{"apply", "a.plan", "b.plan"}, "signalbox apply takes [PLAN]"},
		"a table of a request":  {[]string{"api", "GET", "flags", "-o", "wide"}, "-o wide is for tables of resources; use json, yaml, jsonpath=PATH or go-template=TEMPLATE"},
		"names of a request":    {[]string{"api", "GET", "flags", "-o", "name"}, "-o name is for tables"},
		"a table of an export":  {[]string{"export", "-o", "table"}, "-o table is for tables"},
		"less than no changes":  {[]string{"changes", "list", "--limit", "-5"}, "it must be a number of at least 0"},
		"nothing to forget":     {[]string{"forget"}, "signalbox forget takes KIND:ID..."},
		"a schema of something": {[]string{"schema", "flag"}, "signalbox schema takes no arguments"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := term.run(test.args...); got.code != 2 || !strings.Contains(got.stderr, test.want) {
				t.Errorf("got %+v", got)
			}
		})
	}
	got := term.run("apply", file) // the file is wrong, and not the arguments
	if got.code != 1 || !strings.Contains(got.stderr, "it is no plan that signalbox apply --plan has written; files of resources are applied with -f") {
		t.Errorf("a plan that is none: got %+v", got)
	}
}

// Editors and validate need neither a server nor a key.
func TestValidate_WithoutServer(t *testing.T) {
	t.Parallel()
	term := newTerminal(t)
	if text := term.must("validate", "-f", term.file(everything)); text != "Valid: 9 resources.\n" {
		t.Errorf("got %s", text)
	}
	got := term.run("validate", "-f", term.file("- {kind: flag, id: a, type: BOOLEAN, default: 3}\n- {kind: flga, id: b}"))
	if got.code != 1 || strings.Count(got.stderr, "signalbox: ") != 2 || !strings.Contains(got.stderr, ":1: flag a: default: must be boolean, not number") {
		t.Errorf("got %+v", got)
	}
	if text := term.must("schema"); !json.Valid([]byte(text)) {
		t.Errorf("got %s", text)
	}
}

// What an export prints is valid, and fits the schema.
func TestValidate_Export(t *testing.T) {
	t.Parallel()
	term, _ := newAccount(t, "TOKEN=swordfish")
	term.must("apply", "-f", term.file(everything))
	term.input = term.must("export")
	if text := term.must("validate", "-f", "-"); !strings.HasPrefix(text, "Valid: ") {
		t.Errorf("got %s", text)
	}
}

func TestForget_KeepsResource(t *testing.T) {
	t.Parallel()
	term, _ := newAccount(t)
	file := term.file("{kind: flag, id: a, type: BOOLEAN, default: false}\n---\n{kind: flag, id: b, type: BOOLEAN, default: false}")
	term.must("apply", "-f", file, "--owner", "me")
	if got := term.run("forget", "flag:a", "flag:c"); got.code != 3 || !strings.Contains(got.stderr, `no owner has "flag:c"`) {
		t.Errorf("got %+v", got)
	}
	if got := term.run("__complete", "forget", ""); !strings.HasPrefix(got.stdout, "flag:a\nflag:b\n") {
		t.Errorf("it completes %+v", got)
	}
	term.must("forget", "flag:a", "--dry-run")
	term.must("diff", "-f", file, "--owner", "me")
	term.must("forget", "flag:a")
	if got := term.run("diff", "-f", file, "--owner", "me"); got.code != 10 || got.stdout != "0 to create, 0 to change, 0 to delete, 2 the same, 1 to own.\n" {
		t.Errorf("got %+v", got)
	}
	term.must("apply", "-f", term.file("# nothing"), "--owner", "me", "--prune", "--yes")
	if names := term.must("flags", "list", "-o", "name"); names != "a\n" {
		t.Errorf("there are %q", names)
	}
}
