package manifest_test

import (
	"strings"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/manifest"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

// A key that may not write makes a plan, and cannot apply it.
func TestForbidden(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	server.apply(manifest.Options{Owner: "me"}, read(t, "- {kind: flag, id: same, default: 1, environments: {}}\n- {kind: flag, id: pruned}")...)
	server.forbid = true
	files := read(t, "- {kind: flag, id: same, default: 1}\n- {kind: flag, id: made, default: 1}")
	plan := server.plan(manifest.Options{Owner: "me", Prune: true, ReadOnly: true}, files...)
	want := `+ flag made
    + default: 1
    + environments: {}
    + managed: true
- flag pruned
1 to create, 0 to change, 1 to delete, 1 the same.
This key may not try 3 of them: they were compared without the server's rules, so it may still refuse them.
`
	if got := printed(plan); got != want {
		t.Errorf("it shows %s", got)
	}
	if _, err := server.try(manifest.Options{}, files...); terminal.ExitCode(err) != terminal.ExitUnauthorized {
		t.Errorf("to apply it: %v", err)
	}
}

// A key that may only read finds what is wrong with a resource by itself.
func TestForbidden_Verify(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	server.forbid = true
	files := read(t, `[{"kind":"flag","id":"good","type":"BOOLEAN","default":true},{"kind":"flag","id":"bad","type":"BOOL"}]`)
	plan := server.plan(manifest.Options{ReadOnly: true}, files...)
	err := plan.Verify()
	if err == nil || !strings.HasPrefix(err.Error(), "the input:1: flag bad: default is required\nthe input:1: flag bad: type: must be one of") {
		t.Errorf("got %v", err)
	}
	if got := printed(plan); plan.Count(manifest.Create) != 1 || !strings.Contains(got, "! flag bad  (the input:1)\n    default is required\n    type: must be one of") {
		t.Errorf("it shows %s", got)
	}
}

// A key that may not read secrets needs none to compare the rest.
func TestForbidden_Secrets(t *testing.T) {
	t.Parallel()
	const file = `{"kind":"job","id":"it","name":"N","schedule":"now","configuration":{"url":"u","headers":[` +
		`{"name":"A","valueFrom":"env:TOKEN"},{"name":"A","valueFrom":"env:NONE"},{"name":"B","valueFrom":"stored"}]}}`
	server := newServer(t)
	server.put("job", "it", `{"name":"N","enabled":true,"schedule":"now","configuration":{"method":"POST","url":"u","success_status":"2xx","tls_verify":true,"timeout":30,"body":null,`+
		`"headers":[{"name":"A","value":"<redacted>"},{"name":"a","value":"<redacted>"},{"name":"B","value":"<redacted>"}]}}`)
	_, err := server.try(manifest.Options{ReadOnly: true}, read(t, file)...)
	if err == nil || !strings.Contains(err.Error(), "the variable NONE is not set") || !strings.Contains(err.Error(), `the header "B"`) {
		t.Errorf("a key that may write: %v", err)
	}
	server.forbid = true
	plan := server.plan(manifest.Options{ReadOnly: true}, read(t, strings.Replace(file, `"A","valueFrom":"env:NONE"`, `"a","valueFrom":"env:NONE"`, 1))...)
	if plan.Different() || strings.Contains(printed(plan), "swordfish") {
		t.Errorf("it shows %s", printed(plan))
	}
}

// The comparison without the server sees every member that the server's dry run sees.
func TestForbidden_SeesEveryMember(t *testing.T) {
	t.Parallel()
	for _, kind := range signalbox.DocumentKinds() {
		for _, changed := range attributes(t, kind, "request").leaves(t, "") {
			t.Run(kind+"/"+changed, func(t *testing.T) {
				t.Parallel()
				server := newServer(t)
				server.apply(manifest.Options{}, resource(t, kind, ""))
				server.forbid = true
				if again := server.plan(manifest.Options{ReadOnly: true}, resource(t, kind, "")); again.Different() {
					t.Fatalf("the same again differs: %v", printed(again))
				}
				step := server.plan(manifest.Options{ReadOnly: true}, resource(t, kind, changed)).Steps[0]
				if strings.HasSuffix(changed, "expires_at") { // the examples are one instant, spelled in two ways
					if step.Action != manifest.Keep {
						t.Errorf("it differs in %v", step.Differences())
					}
					return
				}
				if step.Action != manifest.Update {
					t.Fatal("the change is not seen")
				}
				if differences := step.Differences(); !strings.HasPrefix(differences[0].Path, seenAs(changed)) {
					t.Errorf("it differs in %v", differences)
				}
			})
		}
	}
}
