package manifest_test

import (
	"strings"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/manifest"
)

// Runtime members keep the values that people gave them, and a plan shows these values.
func TestRuntime_KeepsStored(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind, stored, file string
		want               string // what is stored then
		shows              string // a line of the plan
	}{
		"members of every environment": {"flag", `{"default":1,"environments":{"qa":{"enabled":false,"rules":[1]}}}`,
			`{"runtime":["enabled","rules"],"default":2,"environments":{"qa":{"enabled":true}}}`,
			`{"qa":{"enabled":false,"rules":[1]}}`, "= environments.qa.enabled: false  (kept; the file says true)"},
		"what the file leaves out": {"flag", `{"default":1,"environments":{"qa":{"rules":[1]}}}`,
			`{"runtime":["rules"],"default":2}`, `{"qa":{"rules":[1]}}`, `= environments: {"qa":{"rules":[1]}}  (kept)`},
		"one environment": {"flag", `{"environments":{"production":{"enabled":false},"qa":{"enabled":false}}}`,
			`{"runtime":["environments.production.enabled"],"environments":{"production":{"enabled":true},"qa":{"enabled":true}}}`,
			`{"production":{"enabled":false},"qa":{"enabled":true}}`, "= environments.production.enabled: false  (kept; the file says true)"},
		"an environment with dots": {"flag", `{"environments":{"eu.qa":{"enabled":false}}}`,
			`{"runtime":["environments.eu.qa.enabled"],"default":2,"environments":{"eu.qa":{"enabled":true}}}`,
			`{"eu.qa":{"enabled":false}}`, "= environments.eu.qa.enabled: false  (kept; the file says true)"},
		"a whole environment": {"flag", `{"environments":{"qa":{"enabled":false}}}`,
			`{"runtime":["environments.qa"],"default":2,"environments":{"qa":{"enabled":true,"rules":[1]}}}`,
			`{"qa":{"enabled":false}}`, "= environments.qa.enabled: false  (kept; the file says true)"},
		"a new environment begins as the file says": {"flag", `{"environments":{}}`,
			`{"runtime":["enabled"],"default":2,"environments":{"qa":{"enabled":true}}}`, `{"qa":{"enabled":true}}`, "+ environments.qa: "},
		"a frozen environment": {"flag", `{"environments":{"frozen":{"enabled":false,"rules":[1]}}}`,
			`{"runtime":["enabled"],"default":2,"environments":{}}`, `{}`, "+ default: 2"},
		"what people removed": {"config", `{"parent":"common","environments":{"qa":{"b":1}}}`,
			`{"runtime":["environments.*.a"],"description":"x","environments":{"qa":{"a":1,"b":2}}}`, `{"qa":{"b":2}}`, "+ description: "},
		"a temporary level": {"logger", `{"environments":{"qa":{"level":"TRACE","expires_at":"soon"}}}`,
			`{"runtime":["environments.*.level"],"name":"x","environments":{"qa":{"level":"INFO"}}}`,
			`{"qa":{"expires_at":"soon","level":"TRACE"}}`, `= environments.qa.level: "TRACE"  (kept; the file says "INFO")`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			server.put("environment", "frozen", `{"managed":false}`)
			server.put(test.kind, "it", test.stored)
			plan := server.plan(manifest.Options{}, read(t, `{"kind":"`+test.kind+`","id":"it",`+test.file[1:])...)
			if shown := printed(plan); !strings.Contains(shown, test.shows) {
				t.Errorf("it shows %s", shown)
			}
			if _, err := plan.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := string(server.stored[test.kind+":it"]["environments"]); got != test.want {
				t.Errorf("it is %s", got)
			}
		})
	}
}

// If only kept members differ, there is nothing to write, and diff finds no difference.
func TestRuntime_NothingElseDiffers(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	server.put("job", "nightly", `{"name":"N","enabled":false,"schedule":"0 3 * * *","configuration":{"headers":[{"name":"A","value":"sesame"}]}}`)
	plan := server.plan(manifest.Options{}, read(t, `
kind: job
id: nightly
name: N
enabled: true
schedule: 0 4 * * *
runtime: [enabled, schedule, configuration]
configuration: {headers: [{name: A, value: swordfish}]}`)...)
	want := `= job nightly
    = configuration.headers[0].value: "<hidden, another value>"  (kept; the file says "<hidden>")
    = enabled: false  (kept; the file says true)
    = schedule: "0 3 * * *"  (kept; the file says "0 4 * * *")
0 to create, 0 to change, 0 to delete, 1 the same.
`
	if got := printed(plan); got != want || plan.Different() {
		t.Errorf("got %s", got)
	}
}

// If somebody switches a flag between the plan and the write, the write keeps the switch.
func TestRuntime_ChangedMeanwhile(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	server.put("flag", "it", `{"default":1,"environments":{"qa":{"enabled":true}}}`)
	plan := server.plan(manifest.Options{}, read(t, "{kind: flag, id: it, default: 2, runtime: [enabled], environments: {qa: {enabled: true}}}")...)
	server.between = func(write) {
		server.between = nil
		server.stored["flag:it"]["environments"] = []byte(`{"qa":{"enabled":false}}`)
	}
	if _, err := plan.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := string(server.encode(server.stored["flag:it"])); !strings.Contains(got, `"default":2,"environments":{"qa":{"enabled":false}}`) {
		t.Errorf("it is %s", got)
	}
}

func TestRuntime_Refuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want string }{
		"no list":                 {"{kind: flag, id: a, runtime: enabled}", "the input:1: the flag a: runtime must be a list of members such as [enabled, rules]"},
		"a misspelled member":     {"{kind: flag, id: a, runtime: [enabld]}", `runtime: a flag has no member "enabld". Did you mean enabled?`},
		"a member of environment": {"{kind: flag, id: a, runtime: [environments.qa.enabld]}", "environments.qa.enabld must name an environment, or end in one of enabled, default, rules after it"},
		"a member of other kinds": {"{kind: job, id: a, runtime: [rules]}", `a job has no member "rules".`},
		"the id":                  {"{kind: job, id: a, runtime: [id]}", `a job has no member "id".`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := manifest.Read([]string{"-"}, strings.NewReader(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Every member of the interface can be left to people.
func TestRuntime_EveryMember(t *testing.T) {
	t.Parallel()
	for _, kind := range signalbox.DocumentKinds() {
		for _, name := range manifest.Definition(kind) {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				server := newServer(t)
				server.apply(manifest.Options{}, resource(t, kind, ""))
				changed := resource(t, kind, "")
				changed.Runtime = []string{name}
				delete(changed.Attributes, name)
				if plan := server.plan(manifest.Options{}, changed); plan.Different() {
					t.Errorf("it shows %s", printed(plan))
				}
			})
		}
	}
}
