package cli_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// compared has resources of every kind, which the tests of diff change.
const compared = `
{kind: environment, id: qa, name: QA}
---
{kind: environment, id: frozen, name: Frozen}
---
{kind: service, id: shop}
---
{kind: context_type, id: user, name: People}
---
{kind: log_group, id: sql, level: warn, environments: {qa: {level: DEBUG}}}
---
{kind: logger, id: shop.payments, group: sql}
---
{kind: logger, id: bare}
---
{kind: config, id: base, items: {size: {value: 1.50}, name: {value: x, description: d}, shape: {value: {a: null}, schema: {type: object}}}}
---
{kind: config, id: child, parent: base, environments: {qa: {size: 2}}}
---
{kind: config, id: lone, parent: base}
---
kind: flag
id: checkout
type: boolean
default: false
environments:
  qa: {rules: [{logic: {"==": [{var: user.plan}, pro]}, value: true}]}
  frozen: {enabled: false}
---
{kind: flag, id: theme, type: JSON, default: {a: null}, values: [{a: null}, {name: Two, value: 2}], description: d}
---
{kind: job, id: nightly, name: Nightly, schedule: 30 2 * * *, configuration: {url: "https://hooks.example.com/nightly", headers: {B: two, A: one}}}
---
{kind: job, id: weekly, name: Weekly, enabled: false, schedule: 30 2 * * 1, configuration: {url: "https://hooks.example.com/weekly", method: put, body: x, timeout: 5}}
`

// A viewer's diff of any change equals the diff of a key that may write.
func TestDiff_ViewerAgreesWithServer(t *testing.T) {
	t.Parallel()
	term, _ := newAccount(t)
	viewer := strings.TrimSpace(term.must("keys", "create", "Looks", "--role", "VIEWER", "-o", "go-template={{.key}}"))
	term.must("apply", "-f", term.file(compared))
	term.must("environments", "set", "frozen", "--managed=false")
	tests := map[string][2]string{ // a part of the files, and what it becomes
		"nothing":                      {"", ""},
		"a name":                       {"name: QA", "name: Quality"},
		"a name left out":              {", name: People", ""},
		"a color":                      {"name: QA", "name: QA, color: '#fff'"},
		"a level in another case":      {"level: warn", "level: WARN"},
		"another level":                {"level: warn", "level: INFO"},
		"a level left out":             {"level: warn, ", ""},
		"a level of an environment":    {"level: DEBUG", "level: TRACE"},
		"an environment left out":      {", environments: {qa: {level: DEBUG}}", ""},
		"no level":                     {"level: DEBUG", "level: null"},
		"no group":                     {", group: sql", ""},
		"a logger that is managed now": {"id: bare", "id: bare, level: INFO"},
		"the spelling of a number":     {"1.50", "1.5"},
		"another number":               {"1.50", "2"},
		"another type of an item":      {"value: x", "value: 5"},
		"the type of an item":          {"value: 1.50", "value: 1.50, type: number"},
		"no description of an item":    {", description: d}", "}"},
		"no schema":                    {", schema: {type: object}", ""},
		"another value":                {"a: null}, schema", "a: 1}, schema"},
		"an item more":                 {"size: {value: 1.50}", "size: {value: 1.50}, more: {value: true}"},
		"another override":             {"size: 2", "size: 3"},
		"no override":                  {"size: 2", "size: null"},
		"another parent":               {"id: lone, parent: base", "id: lone, parent: null"},
		"a parent left out":            {"id: lone, parent: base", "id: lone"},
		"enabled":                      {"qa: {rules", "qa: {enabled: true, rules"},
		"not enabled":                  {"qa: {rules", "qa: {enabled: false, rules"},
		"no rules":                     {"rules: [{logic: {\"==\": [{var: user.plan}, pro]}, value: true}]", "rules: []"},
		"a rule more":                  {"value: true}]", "value: true}, {logic: {var: user.beta}, value: false}]"},
		"a description of a rule":      {"value: true}]", "value: true, description: d}]"},
		"a default of an environment":  {"qa: {rules", "qa: {default: true, rules"},
		"a frozen one left out":        {"  frozen: {enabled: false}\n", ""},
		"another default":              {"default: {a: null}", "default: 2"},
		"another object":               {"default: {a: null}, values: [{a: null}", "default: {}, values: [{}"},
		"values left out":              {", values: [{a: null}, {name: Two, value: 2}]", ""},
		"no description":               {", description: d}\n---\n{kind: job", "}\n---\n{kind: job"},
		"a schedule":                   {"schedule: 30 2 * * *", "schedule: 30 3 * * *"},
		"a job that is not enabled":    {"name: Nightly", "name: Nightly, enabled: false"},
		"a job that is enabled":        {"enabled: false, schedule", "schedule"},
		"a header more":                {"A: one", "A: one, C: three"},
		"a header less":                {"B: two, ", ""},
		"headers in a list":            {"{B: two, A: one}", "[{name: A, value: one}, {name: B, value: two}]"},
		"a method":                     {"method: put, ", ""},
		"a method in another case":     {"method: put", "method: PUT"},
		"a timeout":                    {", timeout: 5", ""},
		"a body":                       {"body: x, ", ""},
		"something new":                {"{kind: service, id: shop}", "{kind: service, id: shop}\n---\n{kind: service, id: web}"},
	}
	for name, test := range tests { // one after the other: they share an account
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(compared, test[0]) {
				t.Fatalf("the files have no %s", test[0])
			}
			file := term.file(strings.Replace(compared, test[0], test[1], 1))
			want, got := term.run("diff", "-f", file), term.run("diff", "-f", file, "--api-key", viewer)
			shown, note, has := strings.Cut(got.stdout, "This key may not try ")
			if got.code != want.code || shown != want.stdout || !has || strings.Count(note, "\n") != 1 || got.stderr != "" {
				t.Errorf("the server says %d\n%s%s\nthe viewer sees %d\n%s%s", want.code, want.stdout, want.stderr, got.code, got.stdout, got.stderr)
			}
		})
	}
}

// planned is the part of diff -o json that the tests look at.
type planned struct {
	Create, Change, Delete, Same, Refuse int
	Errors                               []string
	Steps                                []struct {
		Action, Kind, ID, Source string
		Tried                    bool
		Differences, Kept        []map[string]any
		Warnings                 []struct{ Pointer, Detail string }
		Errors                   []string
	}
}

// readPlan returns what diff prints for programs.
func readPlan(t *testing.T, got outcome) (plan planned) {
	t.Helper()
	if err := json.Unmarshal([]byte(got.stdout), &plan); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	return plan
}

func TestDiff_JSON(t *testing.T) {
	t.Parallel()
	term, _ := newAccount(t, "TOKEN=swordfish")
	term.must("apply", "-f", term.file(everything))
	term.environ = append(term.environ, "TOKEN=another")
	changed := term.file(strings.Replace(everything, "level: DEBUG", "level: TRACE", 1))

	t.Run("differences", func(t *testing.T) {
		got := term.run("diff", "-f", changed, "-o", "json")
		plan := readPlan(t, got)
		if got.code != 10 || plan.Change != 2 || plan.Same != 7 || len(plan.Steps) != 2 || strings.Contains(got.stdout, "swordfish") {
			t.Fatalf("got %+v", got)
		}
		step := plan.Steps[0]
		want := []map[string]any{{"path": "environments.qa.level", "before": "DEBUG", "after": "TRACE"}}
		if step.Action != "change" || step.Kind != "logger" || !step.Tried || !strings.Contains(step.Source, ":") || !reflect.DeepEqual(step.Differences, want) {
			t.Errorf("got %+v", step)
		}
	})
	t.Run("names", func(t *testing.T) {
		if got := term.run("diff", "-f", changed, "-o", "name"); got.code != 10 || got.stdout != "logger:shop.payments\njob:nightly\n" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("a path", func(t *testing.T) {
		if got := term.run("diff", "-f", changed, "-o", "jsonpath={.change}"); got.code != 10 || got.stdout != "2\n" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("a refused resource", func(t *testing.T) {
		got := term.run("diff", "-f", term.file("{kind: flag, id: other, type: BOOLEAN, default: 5}"), "-o", "json")
		plan := readPlan(t, got)
		if got.code != 1 || plan.Refuse != 1 || len(plan.Steps) != 1 || len(plan.Steps[0].Errors) == 0 || plan.Steps[0].Tried || got.stderr == "" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("no plan", func(t *testing.T) {
		got := term.run("diff", "-f", term.file("{kind: flagg, id: other}"), "-o", "json")
		if plan := readPlan(t, got); got.code != 1 || len(plan.Errors) == 0 || !strings.Contains(got.stderr, plan.Errors[0]) {
			t.Errorf("got %+v", got)
		}
	})
}

// In a plan, a warning about an unchanged resource follows the name of the resource.
func TestDiff_NamesResourceOfWarning(t *testing.T) {
	t.Parallel()
	term, _ := newAccount(t)
	file := term.file("{kind: flag, id: a, type: BOOLEAN, default: false, environments: {production: {rules: [{logic: {\"==\": [1, 1]}, value: true}]}}}")
	term.must("apply", "-f", file)
	got := term.run("diff", "-f", file)
	if got.code != 0 || !strings.HasPrefix(got.stdout, "= flag a\n    ! ") {
		t.Errorf("got %+v", got)
	}
}
