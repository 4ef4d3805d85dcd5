package plans_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/plans"
)

// file returns the built-in table as a file, with something changed.
func file(t *testing.T, change func(plans.Table)) string {
	t.Helper()
	table := plans.BuiltIn()
	change(table)
	text, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestParse(t *testing.T) {
	t.Parallel()
	change := func(table plans.Table) {
		table["free"][plans.LoggingGroups] = 0
		table["enterprise"] = table["pro"]
		delete(table, "pro")
		delete(table, "standard")
	}
	want := plans.BuiltIn()
	change(want)
	got, err := plans.Parse(strings.NewReader(" " + file(t, change) + "\n\n"))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("%v (-want +got):\n%s", err, diff)
	}
	if held, err := got.Held("jobs=enterprise"); err != nil || held[plans.Jobs] != "enterprise" || held[plans.Flags] != "free" {
		t.Errorf("%v, %v", held, err)
	}
}

func TestParse_BadFile(t *testing.T) {
	t.Parallel()
	good := file(t, func(plans.Table) {})
	for name, each := range map[string]struct{ text, says string }{
		"nothing":           {"", "not a JSON object"},
		"no JSON":           {"free: 1", "not a JSON object"},
		"an array":          {"[]", "not a JSON object"},
		"null":              {"null", `named "free"`},
		"no plans":          {"{}", `named "free"`},
		"a cut file":        {good[:len(good)/2], "not a JSON object"},
		"two objects":       {good + good, "after its JSON object"},
		"something after":   {good + "x", "after its JSON object"},
		"no free plan":      {file(t, func(table plans.Table) { delete(table, "free") }), `named "free"`},
		"a plan of nothing": {`{"free":{}}`, `limit "config.items" is missing`},
		"a null plan":       {`{"free":null}`, `is missing`},
		"a forgotten limit": {file(t, func(table plans.Table) { delete(table["pro"], plans.FlagsRules) }), `plan "pro": the limit "flags.rules" is missing`},
		"an unknown limit":  {file(t, func(table plans.Table) { table["pro"]["flags.tea"] = 1 }), `plan "pro": there is no limit "flags.tea"`},
		"below unlimited":   {file(t, func(table plans.Table) { table["free"][plans.FlagsRules] = -2 }), "flags.rules is -2"},
		"a fraction":        {strings.Replace(good, ":15,", ":1.5,", 1), "not a JSON object"},
		"a text":            {strings.Replace(good, ":15,", `:"15",`, 1), "not a JSON object"},
		"a huge number":     {strings.Replace(good, ":15,", ":1e99,", 1), "not a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table, err := plans.Parse(strings.NewReader(each.text))
			if err == nil || !strings.Contains(err.Error(), each.says) {
				t.Errorf("got %v, %v; want an error with %q", table, err, each.says)
			}
		})
	}
}

// No account could be on a plan that a text cannot name.
func TestParse_BadPlanName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "a,b", "a=b", " pro"} {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			text := file(t, func(table plans.Table) { table[name] = table["pro"] })
			table, err := plans.Parse(strings.NewReader(text))
			if err == nil {
				if held, err := table.Held(name); err != nil || held[plans.Jobs] != name {
					t.Errorf("the plan %q is in the table and nobody can hold it: %v", name, err)
				}
			}
		})
	}
}
