package manifest_test

import (
	"strings"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/manifest"
)

// The server refuses each config of a cycle because its parent does not exist yet, so the plan must find the cycle
// itself.
func TestPlan_Cycles(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		stored []string // ids, each with the next as its parent
		text   string
		want   []string // cycles that are named; none for none
	}{
		"itself":              {nil, "{kind: config, id: a, parent: a}", []string{"config a: parent: configs must not inherit from themselves: a → a"}},
		"two new ones":        {nil, "- {kind: config, id: a, parent: b}\n- {kind: config, id: b, parent: a}", []string{"a → b → a", "b → a → b"}},
		"three":               {nil, "- {kind: config, id: a, parent: b}\n- {kind: config, id: b, parent: c}\n- {kind: config, id: c, parent: a}", []string{"a → b → c → a"}},
		"through stored ones": {[]string{"a", "b", "c"}, "{kind: config, id: c, parent: a}", []string{"c → a → b → c"}},
		"a cycle that is cut": {[]string{"a", "b", "a"}, "{kind: config, id: b}", nil},
		"a child of a cycle":  {nil, "- {kind: config, id: a, parent: a}\n- {kind: config, id: z, parent: a}", []string{"a → a"}},
		"a chain":             {[]string{"a", "b", "c"}, "- {kind: config, id: c}\n- {kind: config, id: d, parent: a}", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			for i := 1; i < len(test.stored); i++ {
				server.put("config", test.stored[i-1], `{"parent":"`+test.stored[i]+`"}`)
			}
			server.refuse = func(asked write) []problem {
				if parent := strings.Trim(string(asked.Attributes["parent"]), `"`); parent != "common" && server.stored["config:"+parent] == nil {
					return []problem{{signalbox.CodeValidation, "/data/attributes/parent", "there is no " + parent}}
				}
				return nil
			}
			plan, err := server.try(manifest.Options{}, read(t, test.text)...)
			if test.want == nil {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			for _, cycle := range test.want {
				if err == nil || !strings.Contains(err.Error(), cycle) || !strings.Contains(printed(plan), cycle[max(0, strings.Index(cycle, ": ")+2):]) {
					t.Errorf("got %v", err)
				}
			}
			if plan.Count(manifest.Refuse) < len(test.want) {
				t.Errorf("it shows %s", printed(plan))
			}
		})
	}
}
