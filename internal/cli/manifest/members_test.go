package manifest_test

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/manifest"
)

// Every member of a request must be in the table, because differences in other members are not found; and every
// member of the table must be in a request.
func TestDefinition_HasMembersOfInterface(t *testing.T) {
	t.Parallel()
	for _, kind := range signalbox.DocumentKinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			request, response := attributes(t, kind, "request"), attributes(t, kind, "response")
			defined := manifest.Definition(kind)
			for _, name := range request.properties() {
				if long, is := insteadOf()[name]; is {
					name = long
				}
				if member := request.at(t, "properties", name); len(member.leaves(t, "")) > 0 && !slices.Contains(defined, name) {
					t.Errorf("%s can be written, and the definition does not have it", name)
				}
			}
			for _, name := range defined {
				if !slices.Contains(request.properties(), name) {
					t.Errorf("%s cannot be written, and the definition has it", name)
				}
				if !slices.Contains(response.properties(), name) {
					t.Errorf("%s cannot be read, and so never compared", name)
				}
			}
		})
	}
}

// resource returns a resource with all members of its kind. The one at the path changed is another one than usual.
func resource(t *testing.T, kind, changed string) manifest.Resource {
	t.Helper()
	members, is := attributes(t, kind, "request").sample(t, "", changed).(map[string]any)
	if !is {
		t.Fatalf("the request for a %s is no object", kind)
	}
	if kind == "job" { // headers with references are written anew, with all that others have
		configuration := members["configuration"].(map[string]any)
		configuration["headers"] = append(configuration["headers"].([]any), map[string]any{"name": "Authorization", "valueFrom": "env:TOKEN"})
	}
	members["kind"], members["id"] = kind, "it"
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, string(text))[0]
}

// A plan finds every changed member of every kind, at any depth.
func TestPlan_SeesEveryMember(t *testing.T) {
	t.Parallel()
	for _, kind := range signalbox.DocumentKinds() {
		leaves := attributes(t, kind, "request").leaves(t, "")
		if len(leaves) == 0 {
			t.Errorf("the description has no member of a %s", kind)
		}
		for _, changed := range leaves {
			t.Run(kind+"/"+changed, func(t *testing.T) {
				t.Parallel()
				server := newServer(t)
				server.apply(manifest.Options{}, resource(t, kind, ""))
				if again := server.plan(manifest.Options{}, resource(t, kind, "")); again.Different() {
					t.Fatalf("the same again differs: %v", again.Steps[0].Differences())
				}
				step := server.plan(manifest.Options{}, resource(t, kind, changed)).Steps[0]
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

// seenAs returns the path under which a plan shows a member.
func seenAs(changed string) string {
	short := strings.TrimPrefix(path.Ext(changed), ".")
	if short == "" {
		short = changed
	}
	if long, is := insteadOf()[short]; is {
		return strings.TrimSuffix(changed, short) + long
	}
	return changed
}
