package manifest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/cli/manifest"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

const movedFlag = "{kind: flag, id: new, moved: {from: old}, default: 1, description: x, runtime: [enabled], environments: {qa: {enabled: true}}}"

func TestMoved(t *testing.T) {
	t.Parallel()
	mine := manifest.Options{Owner: "me"}
	tests := map[string]manifest.Options{"without pruning": mine, "with pruning": {Owner: "me", Prune: true}}
	for name, options := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			server.apply(mine, read(t, "{kind: flag, id: old, default: 1, environments: {qa: {enabled: false}}}")...)
			server.done()
			plan := server.plan(options, read(t, movedFlag)...)
			want := `+ flag new  (was old)
    + description: "x"
    = environments.qa.enabled: false  (kept; the file says true)
- flag old
1 to create, 0 to change, 1 to delete, 0 the same.
`
			if got := printed(plan); got != want {
				t.Errorf("it shows %s", got)
			}
			if _, err := plan.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := server.done(); !slices.Equal(got, []string{"PUT settings", "POST flag:new", "DELETE flag:old", "PUT settings"}) {
				t.Errorf("it did %q", got)
			}
			if got := string(server.settings); got != `{"owners":{"me":["flag:new"]}}` {
				t.Errorf("the settings are %s", got)
			}
			if plan := server.plan(options, read(t, movedFlag)...); plan.Different() {
				t.Errorf("what is moved already shows %s", printed(plan))
			}
			server.plan(manifest.Options{}, read(t, movedFlag)...) // nobody has to say whose it is any more
		})
	}
}

func TestMoved_Interrupted(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	mine := manifest.Options{Owner: "me"}
	server.apply(mine, read(t, "- {kind: flag, id: old, default: 1}\n- "+strings.Replace(movedFlag, "moved: {from: old}, ", "", 1))...)
	server.done()
	server.apply(mine, read(t, movedFlag)...)
	if got := server.done(); !slices.Equal(got, []string{"DELETE flag:old", "PUT settings"}) {
		t.Errorf("it did %q", got)
	}
}

func TestMoved_Refuses(t *testing.T) {
	t.Parallel()
	mine := manifest.Options{Owner: "me"}
	tests := map[string]struct {
		options manifest.Options
		text    string
		want    string
		code    int
	}{
		"no owner":       {manifest.Options{}, movedFlag, "the input:1: the flag old cannot become new: say whose it is with --owner", terminal.ExitFailed},
		"another owner":  {manifest.Options{Owner: "you"}, movedFlag, `it does not belong to the owner "you"`, terminal.ExitConflict},
		"nobody's":       {mine, strings.Replace(movedFlag, "from: old", "from: nobodys", 1), `it does not belong to the owner "me"`, terminal.ExitConflict},
		"both are there": {mine, strings.Replace(movedFlag, "id: new", "id: nobodys", 1), "the server has both", terminal.ExitConflict},
		"both in files":  {mine, movedFlag + "\n---\n{kind: flag, id: old}", "the files have both", terminal.ExitFailed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			server.apply(mine, read(t, "{kind: flag, id: old}")...)
			server.put("flag", "nobodys", `{}`)
			_, err := server.try(test.options, read(t, test.text)...)
			if err == nil || !strings.Contains(err.Error(), test.want) || terminal.ExitCode(err) != test.code {
				t.Errorf("got %v", err)
			}
		})
	}
	for name, text := range map[string]string{
		"no object":      "{kind: flag, id: a, moved: b}",
		"another member": "{kind: flag, id: a, moved: {to: b}}",
		"an environment": "{kind: environment, id: a, moved: {from: b}}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := manifest.Read([]string{"-"}, strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "move") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	server.apply(manifest.Options{Owner: "me"}, read(t, "- {kind: flag, id: a}\n- {kind: flag, id: b}")...)
	server.apply(manifest.Options{Owner: "you"}, read(t, "{kind: flag, id: c}")...)
	if err := manifest.Forget(t.Context(), server.client, []string{"flag:a", "flag:c"}); err != nil {
		t.Fatal(err)
	}
	if got := string(server.settings); got != `{"owners":{"me":["flag:b"]}}` {
		t.Errorf("the settings are %s", got)
	}
	owned, err := manifest.Owned(t.Context(), server.client)
	if err != nil || len(owned) != 1 || owned["flag:b"] != "me" {
		t.Errorf("owned are %v, %v", owned, err)
	}
	server.done()
	server.apply(manifest.Options{Owner: "me", Prune: true})
	if got := server.done(); !slices.Equal(got, []string{"DELETE flag:b", "PUT settings"}) {
		t.Errorf("pruning did %q", got)
	}
}
