package manifest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/cli/manifest"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

// save returns the file of a plan.
func (s *server) save(options manifest.Options, text string) manifest.Saved {
	s.t.Helper()
	file, err := s.plan(options, read(s.t, text)...).Save(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	if strings.Contains(string(file), "swordfish") {
		s.t.Errorf("the plan tells a secret: %s", file)
	}
	saved, err := manifest.ReadSaved(file)
	if err != nil {
		s.t.Fatal(err)
	}
	return saved
}

// renew makes a saved plan again, to be applied.
func (s *server) renew(saved manifest.Saved) (*manifest.Plan, error) {
	return saved.Renew(s.t.Context(), s.client, manifest.Options{Variable: func(string) string { return "swordfish" }})
}

const plannedFiles = `
- {kind: flag, id: made, default: 1}
- {kind: flag, id: changed, default: 2, runtime: [enabled]}
- {kind: flag, id: same, default: 1}
- {kind: flag, id: moved, moved: {from: former}, default: 1}
- {kind: job, id: nightly, name: N, configuration: {headers: [{name: A, valueFrom: "env:TOKEN"}]}}
- {kind: logger, id: shop, level: DEBUG}
`

// planned returns a server, and a plan that does everything there.
func planned(t *testing.T) (*server, manifest.Saved) {
	t.Helper()
	server, all := newServer(t), manifest.Options{Owner: "me", Prune: true}
	server.apply(all, read(t, `
- {kind: flag, id: changed, default: 1}
- {kind: flag, id: same, default: 1}
- {kind: flag, id: former, default: 1}
- {kind: flag, id: pruned, default: 1}
- {kind: job, id: nightly, name: N, configuration: {headers: [{name: A, value: old}]}}
- {kind: logger, id: shop, level: INFO, environments: {}}
- {kind: context_type, id: user}`)...)
	saved := server.save(all, plannedFiles+"- {kind: context_type, id: user, name: People}")
	server.done()
	return server, saved
}

func TestSaved_Applies(t *testing.T) {
	t.Parallel()
	server, saved := planned(t)
	// Temporary levels, reports and other state that changes by itself do not make a saved plan
	// outdated.
	server.put("context_type", "user", `{"attributes":{"plan":{}}}`)
	server.put("logger", "shop", `{"level":"INFO","environments":{"qa":{"level":"TRACE","expires_at":"soon"}}}`)
	plan, err := server.renew(saved)
	if err != nil {
		t.Fatal(err)
	}
	if written, err := plan.Apply(t.Context()); err != nil || written != 8 {
		t.Fatalf("it wrote %d: %v", written, err)
	}
	got := server.done()
	slices.Sort(got)
	want := []string{"DELETE flag:former", "DELETE flag:pruned", "POST flag:made", "POST flag:moved", "PUT context_type:user", "PUT flag:changed",
		"PUT job:nightly", "PUT logger:shop", "PUT settings", "PUT settings"}
	if !slices.Equal(got, want) {
		t.Errorf("it did %q", got)
	}
	if again := server.plan(manifest.Options{Owner: "me", Prune: true}, read(t, plannedFiles+"- {kind: context_type, id: user, name: People}")...); again.Different() {
		t.Errorf("then there is still %s", printed(again))
	}
}

// A saved plan is refused if anything was changed since; the error names it, and nothing is
// written.
func TestSaved_RefusedAfterChange(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		others func(*server)
		want   string
	}{
		"a change":             {func(s *server) { s.put("flag", "changed", `{"default":3,"managed":true}`) }, "flag changed was changed since the plan was made"},
		"a change of the same": {func(s *server) { s.put("flag", "same", `{"default":3,"managed":true}`) }, "flag same was changed since the plan was made"},
		"a creation":           {func(s *server) { s.put("flag", "made", `{"default":1,"managed":true}`) }, "flag made was created since the plan was made"},
		"a deletion":           {func(s *server) { delete(s.stored, "flag:changed") }, "flag changed was deleted since the plan was made"},
		"a deletion of pruned": {func(s *server) { delete(s.stored, "flag:pruned") }, "flag pruned was deleted since the plan was made"},
		"a change of pruned":   {func(s *server) { s.put("flag", "pruned", `{"default":3}`) }, "flag pruned was changed since the plan was made"},
		"a change of a former": {func(s *server) { s.put("flag", "former", `{"default":3}`) }, "flag former was changed since the plan was made"},
		"a secret":             {func(s *server) { s.stored["job:nightly"]["version"] = []byte("2") }, "job nightly was changed since the plan was made"},
		"more to prune":        {func(s *server) { s.apply(manifest.Options{Owner: "me"}, read(s.t, "{kind: flag, id: more}")...) }, "flag more came to the owner me since the plan was made"},
		"another account":      {func(s *server) { s.account = "other" }, "the plan was made for the account acme, and this key is of the account other"},
		"a resource taken over": {func(s *server) {
			s.apply(manifest.Options{Owner: "you", TakeOver: true}, read(s.t, "{kind: flag, id: same, default: 1}")...)
		}, `the flag same belongs to the owner "you"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, saved := planned(t)
			test.others(server)
			server.done()
			_, err := server.renew(saved)
			if err == nil || !strings.Contains(err.Error(), test.want) || terminal.ExitCode(err) != terminal.ExitConflict {
				t.Errorf("got %v", err)
			}
			if wrote := server.done(); wrote != nil {
				t.Errorf("it wrote %q", wrote)
			}
		})
	}
}

// A change between the last look and the write is refused too.
func TestSaved_RefusedAtWrite(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{"a change": "changed", "a deletion": "pruned", "a creation": "made"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, saved := planned(t)
			plan, err := server.renew(saved)
			if err != nil {
				t.Fatal(err)
			}
			server.between = func(asked write) {
				if asked.ID == id {
					server.stored["flag:"+id] = members{"default": []byte("7")}
				}
			}
			if _, err := plan.Apply(t.Context()); terminal.ExitCode(err) != terminal.ExitConflict || !strings.Contains(err.Error(), "flag "+id+": ") {
				t.Errorf("got %v", err)
			}
			if got := string(server.stored["flag:"+id]["default"]); got != "7" {
				t.Errorf("it was overwritten with %s", got)
			}
		})
	}
}

func TestReadSaved_Refuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"a manifest":      {"kind: flag", "files of resources are applied with -f"},
		"another object":  {"{}", "it is no plan"},
		"a later program": {`{"signalbox_plan": 2}`, "the plan has the format 2, and this program reads 1: make the plan again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := manifest.ReadSaved([]byte(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
