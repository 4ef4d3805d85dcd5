package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/manifest"
)

// exported returns an export of the server, one resource per line.
func (s *server) exported(secrets bool) string {
	s.t.Helper()
	objects, err := manifest.Export(s.t.Context(), s.client, signalbox.DocumentKinds(), secrets)
	if err != nil {
		s.t.Fatal(err)
	}
	var lines []string
	for _, object := range objects {
		lines = append(lines, string(object))
	}
	return strings.Join(lines, "\n")
}

// An export has exactly the configured members: an empty server to which it is applied has the same export.
func TestExport_Decisions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ kind, stored, want string }{
		"a discovered environment":        {"environment", `{"name":"it","managed":false,"classification":"AD_HOC"}`, ``},
		"a frozen environment":            {"environment", `{"name":"it","color":null,"managed":false,"classification":"STANDARD"}`, `{"kind":"environment","id":"it","classification":"STANDARD","managed":false}`},
		"a named environment":             {"environment", `{"name":"QA","color":"#fff","managed":true,"classification":"AD_HOC"}`, `{"kind":"environment","id":"it","name":"QA","color":"#fff","classification":"AD_HOC","managed":true}`},
		"a service":                       {"service", `{"name":"it"}`, `{"kind":"service","id":"it"}`},
		"a named service":                 {"service", `{"name":"Shop"}`, `{"kind":"service","id":"it","name":"Shop"}`},
		"reported attributes":             {"context_type", `{"name":"People","attributes":{"plan":{}}}`, `{"kind":"context_type","id":"it","name":"People"}`},
		"a reported logger":               {"logger", `{"name":"it","managed":false}`, ``},
		"a logger with a level":           {"logger", `{"name":"It","managed":true,"level":"INFO","group":"g","environments":{"qa":{"level":"WARN"}}}`, `{"kind":"logger","id":"it","name":"It","level":"INFO","group":"g","environments":{"qa":{"level":"WARN"}}}`},
		"temporary levels":                {"logger", `{"managed":true,"level":"INFO","level_expires_at":"soon","group":"g","environments":{"qa":{"level":"WARN","expires_at":"soon"}}}`, `{"kind":"logger","id":"it","group":"g"}`},
		"only temporary levels":           {"logger", `{"managed":true,"level":"INFO","level_expires_at":"soon","environments":{}}`, ``},
		"a group without levels":          {"log_group", `{"name":"it","level":null,"environments":{}}`, `{"kind":"log_group","id":"it"}`},
		"a config":                        {"config", `{"name":"it","parent":"common","items":{"a":{"value":null,"type":"JSON","description":null,"schema":{}}},"environments":{"qa":{"a":[]}}}`, `{"kind":"config","id":"it","parent":"common","items":{"a":{"schema":{},"type":"JSON","value":null}},"environments":{"qa":{"a":[]}}}`},
		"a config with no parent":         {"config", `{"name":"it","parent":null,"items":{},"environments":{}}`, `{"kind":"config","id":"it","parent":null}`},
		"a declared flag":                 {"flag", `{"name":"it","type":"JSON","default":null,"managed":false}`, ``},
		"a flag":                          {"flag", `{"name":"it","type":"JSON","default":{},"values":null,"managed":true,"environments":{}}`, `{"kind":"flag","id":"it","name":"it","type":"JSON","default":{}}`},
		"a flag's environments":           {"flag", `{"name":"it","type":"JSON","default":1,"managed":true,"environments":{"a":{"enabled":true,"default":null,"rules":[]},"b":{"enabled":false,"default":{},"rules":[]},"c":{"enabled":true,"default":[],"rules":[{"value":{}}]}}}`, `{"kind":"flag","id":"it","name":"it","type":"JSON","default":1,"environments":{"a":{"enabled":true},"b":{"default":{},"enabled":false},"c":{"default":[],"enabled":true,"rules":[{"value":{}}]}}}`},
		"a job":                           {"job", `{"name":"it","description":null,"enabled":true,"schedule":"now","configuration":{"url":"https://a.example","headers":[],"body":null}}`, `{"kind":"job","id":"it","name":"it","enabled":true,"schedule":"now","configuration":{"url":"https://a.example"}}`},
		"numbers as they were spelled":    {"flag", `{"name":"it","type":"JSON","default":1.50,"managed":true}`, `{"kind":"flag","id":"it","name":"it","type":"JSON","default":1.50}`},
		"text that could become a number": {"flag", `{"name":"1e3","type":"STRING","default":"yes","managed":true}`, `{"kind":"flag","id":"it","name":"1e3","type":"STRING","default":"yes"}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			server.put(test.kind, "it", test.stored)
			got := server.exported(false)
			if got != test.want {
				t.Fatalf("got  %s\nwant %s", got, test.want)
			}
			other := newServer(t)
			other.apply(manifest.Options{}, read(t, got)...)
			if again := other.exported(false); again != got {
				t.Errorf("another server has %s", again)
			}
		})
	}
}

// Applying an export changes nothing, because the export contains every member of every kind, except members
// that change by themselves.
func TestExport_HasEveryMember(t *testing.T) {
	t.Parallel()
	for _, kind := range signalbox.DocumentKinds() {
		for _, changed := range append(attributes(t, kind, "request").leaves(t, ""), "") {
			t.Run(kind+"/"+changed, func(t *testing.T) {
				t.Parallel()
				for _, secrets := range []bool{false, true} {
					t.Run(fmt.Sprintf("secrets %t", secrets), func(t *testing.T) {
						server := newServer(t)
						server.defaults = map[string]string{"logger": `{"managed":true}`, "job": `{"overlap":"allow","alerts":{"after_failures":1,"recover_after":1}}`}
						server.apply(manifest.Options{}, resource(t, kind, changed))
						text := server.exported(secrets)
						if text == "" && changed != "managed" {
							t.Error("it is not exported")
						}
						if plan := server.plan(manifest.Options{}, read(t, text)...); plan.Different() {
							t.Errorf("%s\ndiffers in %v", text, plan.Steps[0].Differences())
						}
					})
				}
			})
		}
	}
}

func TestExport_Secrets(t *testing.T) {
	t.Parallel()
	const stored = `[{"name":"X-Token","value":"swordfish","kept":1},{"name":"Accept","value":"text/plain"},{"name":"X-Token","value":"another"}]`
	server := newServer(t)
	server.put("job", "it", `{"configuration":{"headers":`+stored+`}}`)
	tests := map[string]struct {
		secrets bool
		want    string
	}{
		"hidden": {false, `[{"kept":1,"name":"X-Token","valueFrom":"stored"},{"name":"Accept","value":"text/plain"},{"name":"X-Token","valueFrom":"stored"}]`},
		"shown":  {true, stored},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := server.exported(test.secrets)
			if got != `{"kind":"job","id":"it","configuration":{"headers":`+test.want+`}}` {
				t.Errorf("got %s", got)
			}
			if plan := server.plan(manifest.Options{}, read(t, got)...); plan.Different() {
				t.Errorf("it differs in %v", plan.Steps[0].Differences())
			}
		})
	}
}

func TestExport_Kinds(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	for _, id := range []string{"a", "b", "c"} { // more than a page
		server.put("flag", id, `{"managed":true,"default":1}`)
	}
	server.put("service", "s", `{}`)
	server.put("config", signalbox.CommonConfig, `{"name":"common","parent":null,"items":{},"environments":{}}`)
	want := `{"kind":"service","id":"s"}
{"kind":"flag","id":"a","default":1}
{"kind":"flag","id":"b","default":1}
{"kind":"flag","id":"c","default":1}`
	if got := server.exported(false); got != want {
		t.Errorf("got %s", got)
	}
	objects, err := manifest.Export(t.Context(), server.client, []string{"service"}, false)
	if err != nil || len(objects) != 1 || string(objects[0]) != `{"kind":"service","id":"s"}` {
		t.Errorf("got %s, %v", objects, err)
	}
	if _, err := manifest.Export(t.Context(), server.client, []string{"account"}, false); err == nil {
		t.Error("a kind that cannot be exported was")
	}
}
