package manifest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/manifest"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func TestOwners_Record(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	server.settings = json.RawMessage(`{"environment_order":["qa"],"theme":"dark"}`)
	mine, theirs := manifest.Options{Owner: "me"}, manifest.Options{Owner: "them"}
	server.apply(mine, read(t, "- {kind: flag, id: b}\n- {kind: flag, id: a}")...)
	server.apply(theirs, read(t, "{kind: flag, id: c}")...)
	server.apply(manifest.Options{}, read(t, "{kind: flag, id: nobodys}")...)
	server.apply(mine, read(t, "{kind: job, id: d}")...) // without pruning nothing is forgotten
	want := `{"environment_order":["qa"],"owners":{"me":["flag:a","flag:b","job:d"],"them":["flag:c"]},"theme":"dark"}`
	if got := string(server.settings); got != want {
		t.Errorf("the settings are %s", got)
	}

	t.Run("another owner's", func(t *testing.T) {
		_, err := server.try(mine, read(t, "{kind: flag, id: c}")...)
		if terminal.ExitCode(err) != terminal.ExitConflict || err.Error() != `the input:1: the flag c belongs to the owner "them"; take it over with --take-over` {
			t.Errorf("got %v", err)
		}
	})
	t.Run("nobody's", func(t *testing.T) {
		if plan := server.plan(mine, read(t, "{kind: flag, id: nobodys}")...); plan.Count(manifest.Keep) != 1 || !plan.Different() {
			t.Error("to own it is no difference")
		}
	})
	t.Run("taken over", func(t *testing.T) {
		server.apply(manifest.Options{Owner: "me", TakeOver: true}, read(t, "{kind: flag, id: c}")...)
		want := `{"environment_order":["qa"],"owners":{"me":["flag:a","flag:b","flag:c","job:d"]},"theme":"dark"}`
		if got := string(server.settings); got != want {
			t.Errorf("the settings are %s", got)
		}
	})
}

func TestOwners_Prune(t *testing.T) {
	t.Parallel()
	const all = "- {kind: flag, id: kept}\n- {kind: flag, id: a:b}\n- {kind: flag, id: gone}"
	kept := read(t, "{kind: flag, id: kept}")
	tests := map[string]struct {
		options manifest.Options
		files   []manifest.Resource
		want    []string // what is deleted
		left    string   // the owners
	}{
		"unless asked for": {manifest.Options{Owner: "me"}, kept, nil, `{"owners":{"me":["flag:a:b","flag:gone","flag:kept"]}}`},
		"another owner":    {manifest.Options{Owner: "you", Prune: true}, nil, nil, `{"owners":{"me":["flag:a:b","flag:gone","flag:kept"]}}`},
		"what is listed":   {manifest.Options{Owner: "me", Prune: true}, kept, []string{"DELETE flag:a:b"}, `{"owners":{"me":["flag:kept"]}}`},
		"everything":       {manifest.Options{Owner: "me", Prune: true}, nil, []string{"DELETE flag:a:b", "DELETE flag:kept"}, `{"owners":{}}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			server.apply(manifest.Options{Owner: "me"}, read(t, all)...)
			server.put("flag", "nobodys", `{}`)
			delete(server.stored, "flag:gone") // by somebody else
			server.done()
			plan := server.plan(test.options, test.files...)
			if plan.Count(manifest.Delete) != len(test.want) {
				t.Errorf("%d are to delete", plan.Count(manifest.Delete))
			}
			if _, err := plan.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
			deleted := slices.DeleteFunc(server.done(), func(each string) bool { return each == "PUT settings" })
			slices.Sort(deleted) // they are deleted at once
			if !slices.Equal(deleted, test.want) || string(server.settings) != test.left {
				t.Errorf("it did %q and left %s", deleted, server.settings)
			}
		})
	}
}

// A config with children can be deleted together with them, but not while children stay.
func TestOwners_PruneConfigInUse(t *testing.T) {
	t.Parallel()
	for name, pruned := range map[string]int{"with its child": 2, "without its child": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			files := read(t, "- {kind: config, id: parent}\n- {kind: config, id: child, parent: parent}")
			server.apply(manifest.Options{Owner: "me"}, files...)
			server.refuse = func(asked write) []problem {
				if asked.Method == "DELETE" && asked.ID == "parent" && server.stored["config:child"] != nil {
					return []problem{{signalbox.CodeConfigInUse, "", "the child inherits from it"}}
				}
				return nil
			}
			plan, err := server.try(manifest.Options{Owner: "me", Prune: true}, files[pruned:]...)
			if pruned == 1 {
				if err == nil || !strings.Contains(err.Error(), "the owner me: config parent: ") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if written, err := plan.Apply(t.Context()); err != nil || written != 2 {
				t.Errorf("it wrote %d: %v", written, err)
			}
		})
	}
}

func TestOwners_SettingsChangeMeanwhile(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		times int
		fails bool
	}{"a few times": {4, false}, "every time": {5, true}}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			server.meanwhile = func() {
				if test.times--; test.times >= 0 {
					server.version++
					server.settings = json.RawMessage(`{"owners":{"them":["flag:b"]}}`)
				}
			}
			written, err := server.plan(manifest.Options{Owner: "me"}, read(t, "{kind: flag, id: a}")...).Apply(t.Context())
			if test.fails {
				if err == nil || written != 0 || !strings.Contains(err.Error(), `recording the resources of the owner "me" in the account's settings: `) {
					t.Errorf("it wrote %d: %v", written, err)
				}
				return
			}
			if got := string(server.settings); err != nil || got != `{"owners":{"me":["flag:a"],"them":["flag:b"]}}` {
				t.Errorf("the settings are %s: %v", got, err)
			}
		})
	}
}

// Two plans of the same resources are made before either is applied.
func TestOwners_AtOnce(t *testing.T) {
	t.Parallel()
	files := read(t, "- {kind: flag, id: a}\n- {kind: flag, id: b}")
	tests := map[string]struct {
		first, second manifest.Options
		want          string // the error of the second
		left          string // the owners
	}{
		"refused": {
			manifest.Options{Owner: "me"}, manifest.Options{Owner: "them"},
			`the input:1: the flag a belongs to the owner "me"; take it over with --take-over`, `{"owners":{"me":["flag:a","flag:b"]}}`,
		},
		"taken over": {
			manifest.Options{Owner: "me"}, manifest.Options{Owner: "them", TakeOver: true}, "", `{"owners":{"them":["flag:a","flag:b"]}}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			first, second := server.plan(test.first, files...), server.plan(test.second, files...)
			if _, err := first.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
			server.done()
			written, err := second.Apply(t.Context())
			if test.want != "" && (terminal.ExitCode(err) != terminal.ExitConflict || err.Error() != test.want || written != 0 || server.done() != nil) {
				t.Errorf("it wrote %d: %v", written, err)
			}
			if got := string(server.settings); (err != nil) != (test.want != "") || got != test.left {
				t.Errorf("the settings are %s: %v", got, err)
			}
		})
	}
}

func TestOwners_SettingsOfSomethingElse(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	server.settings = json.RawMessage(`{"owners":"Ada and Grace"}`)
	if _, err := server.try(manifest.Options{Owner: "me"}); err == nil || !strings.Contains(err.Error(), `the member "owners" of the account's settings does not have lists`) {
		t.Errorf("got %v", err)
	}
}
