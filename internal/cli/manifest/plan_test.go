package manifest_test

import (
	"encoding/json"
	"strings"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/manifest"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

// printed returns the text of a plan for an output that is no terminal.
func printed(plan *manifest.Plan) string {
	var text strings.Builder
	plan.Print(&terminal.Terminal{Out: &text})
	return text.String()
}

func TestPlan_Print(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	server.apply(manifest.Options{Owner: "me"}, read(t, `
- {kind: flag, id: changed, default: {a: 1, b: [1, 2], c: x}, values: [1]}
- {kind: flag, id: same, default: 1.0}
- {kind: flag, id: pruned, default: 1}
- {kind: logger, id: released, level: INFO}
- {kind: job, id: nightly, configuration: {headers: [{name: A, value: old}, {name: B, value: kept}]}}
`)...)
	plan := server.plan(manifest.Options{Owner: "me", Prune: true}, read(t, `
- {kind: flag, id: made, default: false}
- {kind: flag, id: changed, default: {a: 2, b: [1, 3]}, values: [1, 2], description: `+strings.Repeat("x", 300)+`}
- {kind: flag, id: same, default: 1}
- {kind: job, id: nightly, configuration: {headers: [{name: a, valueFrom: "env:TOKEN"}, {name: B, value: kept}]}}
`)...)
	got := printed(plan)
	want := `+ flag made
    + default: false
    + managed: true
~ flag changed
    + description: "` + strings.Repeat("x", 300) + `"
    - default.a: 1
    + default.a: 2
    - default.b[1]: 2
    + default.b[1]: 3
    - default.c: "x"
    + values[1]: {"name":"2","value":2}
~ job nightly
    - configuration.headers[0].name: "A"
    + configuration.headers[0].name: "a"
    - configuration.headers[0].value: "<hidden>"
    + configuration.headers[0].value: "<hidden, another value>"
- flag pruned
- logger released  (its levels; reports of services stay)
1 to create, 2 to change, 2 to delete, 1 the same.
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if writes := server.done(); len(writes) != 6 { // the writes of the first apply
		t.Errorf("planning wrote: %q", writes)
	}
}

// Equal values are not written and different values are, however they are spelled.
func TestPlan_Equality(t *testing.T) {
	t.Parallel()
	const job = `"name":"J","configuration":{"url":"https://a.example"}`
	tests := map[string]struct {
		kind         string
		stored, file string // attributes
		differs      string // the path of the first difference; "" for none
	}{
		"the order of members":             {"flag", `{"managed":true,"default":{"a":1,"b":2}}`, `{"default":{"b":2,"a":1}}`, ""},
		"the spelling of numbers":          {"flag", `{"managed":true,"default":[1,100,0.5]}`, `{"default":[1.0,1e2,5e-1]}`, ""},
		"large numbers":                    {"flag", `{"managed":true,"default":12345678901234567890}`, `{"default":12345678901234567891}`, "default"},
		"a text that looks like a number":  {"flag", `{"managed":true,"default":"1"}`, `{"default":1}`, "default"},
		"the spelling of texts":            {"flag", `{"managed":true,"default":"<ä>"}`, `{"default":"\u003c\u00e4>"}`, ""},
		"the order of a list":              {"flag", `{"managed":true,"default":[1,2]}`, `{"default":[2,1]}`, "default[0]"},
		"the length of a list":             {"flag", `{"managed":true,"default":[1]}`, `{"default":[1,1]}`, "default[1]"},
		"null and absent":                  {"flag", `{"managed":true,"default":1,"values":null}`, `{"default":1,"description":null}`, ""},
		"a default that was left out":      {"flag", `{"managed":true,"default":1,"name":"it"}`, `{"default":1}`, ""},
		"another than the default":         {"flag", `{"managed":true,"default":1,"name":"Other"}`, `{"default":1}`, "name"},
		"what is observed":                 {"flag", `{"managed":true,"default":1,"last_seen":"today"}`, `{"default":1}`, ""},
		"a flag that services declared":    {"flag", `{"managed":false,"default":1}`, `{"default":1}`, "managed"},
		"the name of an environment":       {"environment", `{"name":"it"}`, `{}`, ""},
		"a config below the common one":    {"config", `{"parent":"common"}`, `{}`, ""},
		"a config below another one":       {"config", `{"parent":"base"}`, `{}`, "parent"},
		"a config with no parent":          {"config", `{"parent":"common"}`, `{"parent":null}`, "parent"},
		"a schema that was removed":        {"config", `{"parent":"common","items":{"a":{"value":1,"schema":{"type":"number"}}}}`, `{"items":{"a":{"value":1}}}`, "items.a.schema"},
		"an item that is null":             {"config", `{"parent":"common","items":{"a":{"value":1,"schema":{}}}}`, `{"items":{"a":null}}`, "items.a"},
		"a temporary level":                {"logger", `{"level":"DEBUG","level_expires_at":"soon"}`, `{"level":null}`, ""},
		"a temporary level made permanent": {"logger", `{"level":"DEBUG","level_expires_at":"soon"}`, `{"level":"DEBUG"}`, "level_expires_at"},
		"a temporary override":             {"log_group", `{"environments":{"qa":{"level":"DEBUG","expires_at":"soon"}}}`, `{}`, ""},
		"another beside a temporary one":   {"log_group", `{"environments":{"qa":{"level":"DEBUG","expires_at":"soon"}}}`, `{"environments":{"production":{"level":"INFO"}}}`, "environments.production"},
		"an override made permanent":       {"logger", `{"environments":{"qa":{"level":"DEBUG","expires_at":"soon"}}}`, `{"environments":{"qa":{"level":"DEBUG"}}}`, "environments.qa.expires_at"},
		"an override that is null":         {"logger", `{"environments":{"qa":{"level":"DEBUG","expires_at":"soon"}}}`, `{"environments":{"qa":null}}`, "environments.qa"},
		"a permanent override left out":    {"logger", `{"environments":{"qa":{"level":"DEBUG"}}}`, `{}`, "environments"},
		"the other name of a group":        {"logger", `{"group":"sql"}`, `{"group_id":"sql"}`, ""},
		"another group by its other name":  {"logger", `{"group":"sql"}`, `{"group_id":"http"}`, "group"},
		"a one-off that has run":           {"job", `{` + job + `,"schedule":"now","enabled":false}`, `{` + job + `,"schedule":"now"}`, ""},
		"a one-off in a block of YAML":     {"job", `{` + job + `,"schedule":"now","enabled":false}`, `{` + job + `,"schedule":"now\n"}`, "schedule"}, // the real server trims it
		"a one-off at another time":        {"job", `{` + job + `,"schedule":"now","enabled":false}`, `{` + job + `,"schedule":"2030-01-31T08:00:00Z"}`, "enabled"},
		"a job that somebody stopped":      {"job", `{` + job + `,"schedule":"0 3 * * *","enabled":false}`, `{` + job + `,"schedule":"0 3 * * *"}`, "enabled"},
		"attributes that were reported":    {"context_type", `{"name":"it","attributes":{"plan":{}}}`, `{}`, ""},
		"attributes of the file":           {"context_type", `{"name":"it","attributes":{"plan":{}}}`, `{"attributes":{"plan":{},"age":{}}}`, "attributes.age"},
		"no attributes":                    {"context_type", `{"name":"it","attributes":{"plan":{}}}`, `{"attributes":{}}`, "attributes.plan"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			server.defaults = map[string]string{"flag": `{"name":"it"}`, "job": `{"enabled":true}`, "context_type": `{"name":"it","attributes":{}}`}
			server.put(test.kind, "it", server.settled(test.kind, test.stored))
			step := server.plan(manifest.Options{}, read(t, `{"kind":"`+test.kind+`","id":"it",`+test.file[1:])...).Steps[0]
			differences := step.Differences()
			switch {
			case test.differs == "":
				if step.Action != manifest.Keep || len(differences) > 0 {
					t.Errorf("it differs in %v", differences)
				}
			case step.Action != manifest.Update || len(differences) == 0 || differences[0].Path != test.differs:
				t.Errorf("the action is %d for %v", step.Action, differences)
			}
		})
	}
}

// settled returns attributes with the defaults of a kind.
func (s *server) settled(kind, attributes string) string {
	s.t.Helper()
	asked := write{Kind: kind}
	if err := json.Unmarshal([]byte(attributes), &asked.Attributes); err != nil {
		s.t.Fatal(err)
	}
	return string(s.encode(s.settle(asked)))
}

// A refusal is postponed only if all its reasons are references to resources that the plan writes
// first.
func TestPlan_EarlyRefusals(t *testing.T) {
	t.Parallel()
	const (
		invalid   = signalbox.CodeValidation
		unmanaged = signalbox.CodeEnvironmentUnmanaged
		qa        = "\n---\n{kind: environment, id: qa, name: QA}"
		stored    = "\n---\n{kind: environment, id: stored, name: Stored}"
		group     = "\n---\n{kind: log_group, id: sql}"
	)
	at := func(code signalbox.Code, pointers ...string) (problems []problem) {
		for _, pointer := range pointers {
			problems = append(problems, problem{code, pointer, "it is so"})
		}
		return problems
	}
	tests := map[string]struct {
		text     string // the first resource is refused
		problems []problem
		late     bool
	}{
		"an environment that the plan makes":        {"{kind: flag, id: it}" + qa, at(invalid, "/data/attributes/environments/qa"), true},
		"something inside of it":                    {"{kind: flag, id: it}" + qa, at(invalid, "/data/attributes/environments/qa/rules/0"), true},
		"an environment that the plan thaws":        {"{kind: flag, id: it}\n---\n{kind: environment, id: stored, name: Stored, managed: true}", at(unmanaged, "/data/attributes/environments/stored"), true},
		"an environment that stays as it is":        {"{kind: flag, id: it}" + stored, at(invalid, "/data/attributes/environments/stored"), false},
		"an environment of nobody":                  {"{kind: flag, id: it}" + qa, at(invalid, "/data/attributes/environments/production"), false},
		"an environment with a slash":               {"{kind: flag, id: it}\n---\n{kind: environment, id: a/b~c}", at(invalid, "/data/attributes/environments/a~1b~0c/default"), true},
		"two of its environments":                   {"{kind: flag, id: it}" + qa + stored, at(invalid, "/data/attributes/environments/qa", "/data/attributes/environments/stored"), false},
		"something else beside":                     {"{kind: flag, id: it}" + qa, at(invalid, "/data/attributes/environments/qa", "/data/attributes/default"), false},
		"another code":                              {"{kind: flag, id: it}" + qa, at(signalbox.CodeLimitReached, "/data/attributes/environments/qa"), false},
		"no place":                                  {"{kind: flag, id: it}" + qa, at(invalid, ""), false},
		"another place":                             {"{kind: flag, id: it}" + qa, at(invalid, "/data/environments/qa"), false},
		"a group that the plan makes":               {"{kind: logger, id: it, group: sql}" + group, at(invalid, "/data/attributes/group"), true},
		"a group by its other name":                 {"{kind: logger, id: it, group_id: sql}" + group, at(invalid, "/data/attributes/group"), true},
		"a group of nobody":                         {"{kind: logger, id: it, group: http}" + group, at(invalid, "/data/attributes/group"), false},
		"a parent beside":                           {"{kind: config, id: it, parent: base}\n---\n{kind: config, id: base}", at(invalid, "/data/attributes/parent"), true},
		"items beside another config":               {"{kind: config, id: it}\n---\n{kind: config, id: base}", at(invalid, "/data/attributes/items/a"), true},
		"a name beside another config":              {"{kind: config, id: it}\n---\n{kind: config, id: base}", at(invalid, "/data/attributes/name"), false},
		"a parent of nobody":                        {"{kind: config, id: it, parent: base}", at(invalid, "/data/attributes/parent"), false},
		"a flag beside a config":                    {"{kind: flag, id: it}\n---\n{kind: config, id: base}", at(invalid, "/data/attributes/items"), false},
		"no answer of the server, but of something": {"{kind: flag, id: it}" + qa, []problem{}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			server.put("environment", "stored", `{"name":"Stored"}`)
			server.refuse = func(asked write) []problem {
				if asked.ID != "it" {
					return nil
				}
				return test.problems
			}
			plan, err := server.try(manifest.Options{}, read(t, test.text)...)
			if test.late && (err != nil || !plan.Steps[0].Late || plan.Steps[0].Action != manifest.Create) {
				t.Errorf("it was not put off: %v", err)
			}
			if !test.late && (err == nil || !strings.Contains(err.Error(), "the input:1: "+read(t, test.text)[0].Kind+" it: ")) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestPlan_TellsAllRefusals(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	server.refuse = func(asked write) []problem {
		return []problem{{signalbox.CodeValidation, "/data/attributes/default", asked.ID + " is wrong"}}
	}
	_, err := server.try(manifest.Options{}, read(t, "- {kind: flag, id: a}\n- {kind: flag, id: b}")...)
	if err == nil || !strings.Contains(err.Error(), "a is wrong") || !strings.Contains(err.Error(), "b is wrong") {
		t.Errorf("got %v", err)
	}
}

func TestPlan_Secrets(t *testing.T) {
	t.Parallel()
	const stored = `[{"name":"A","value":"one"},{"name":"B","value":""},{"name":"a","value":"two"},{"name":"C","value":"<redacted>"}]`
	tests := map[string]struct{ headers, want, refused string }{
		"a variable":              {`[{"name":"X","valueFrom":"env:TOKEN"}]`, `[{"name":"X","value":"swordfish"}]`, ""},
		"a value beside":          {`[{"name":"X","valueFrom":"env:TOKEN"},{"name":"Y","value":"y"}]`, `[{"name":"X","value":"swordfish"},{"name":"Y","value":"y"}]`, ""},
		"members of tomorrow":     {`[{"name":"X","valueFrom":"env:TOKEN","kept":1},{"name":"Y","kept":2}]`, `[{"kept":1,"name":"X","value":"swordfish"},{"kept":2,"name":"Y"}]`, ""},
		"what is stored":          {`[{"name":"a","valueFrom":"stored"}]`, `[{"name":"a","value":"one"}]`, ""},
		"what is stored twice":    {`[{"name":"A","valueFrom":"stored"},{"name":"A","valueFrom":"stored"}]`, `[{"name":"A","value":"one"},{"name":"A","value":"two"}]`, ""},
		"the second is new":       {`[{"name":"A","value":"new"},{"name":"A","valueFrom":"stored"}]`, `[{"name":"A","value":"new"},{"name":"A","value":"two"}]`, ""},
		"an empty value":          {`[{"name":"B","valueFrom":"stored"}]`, `[{"name":"B","value":""}]`, ""},
		"no list":                 {`{"X":"y"}`, `{"X":"y"}`, ""},
		"a list of something":     {`["X"]`, `["X"]`, ""},
		"more than are stored":    {`[{"name":"B","valueFrom":"stored"},{"name":"B","valueFrom":"stored"}]`, "", `the header "B": the server has no value for it`},
		"none stored":             {`[{"name":"X","valueFrom":"stored"}]`, "", "the server has no value for it that this key may read; use valueFrom: env:NAME"},
		"one that cannot be read": {`[{"name":"C","valueFrom":"stored"}]`, "", "the server has no value for it that this key may read"},
		"a variable that is none": {`[{"name":"X","valueFrom":"env:NONE"}]`, "", `the input:1: job it: the header "X": the variable NONE is not set`},
		"a value and a reference": {`[{"name":"X","value":"x","valueFrom":"env:TOKEN"}]`, "", "it has both value and valueFrom; remove one"},
		"a reference to nothing":  {`[{"name":"X","valueFrom":"vault"}]`, "", "valueFrom must be env:NAME, or stored for the value that the server has"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			server.put("job", "it", `{"configuration":{"headers":`+stored+`}}`)
			plan, err := server.try(manifest.Options{}, read(t, `{"kind":"job","id":"it","configuration":{"headers":`+test.headers+`}}`)...)
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := plan.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := string(server.stored["job:it"]["configuration"]); got != `{"headers":`+test.want+`}` {
				t.Errorf("got %s", got)
			}
			if shown := printed(plan); strings.Contains(shown, "swordfish") || strings.Contains(shown, "two") {
				t.Errorf("a secret is shown: %s", shown)
			}
		})
	}
}
