package configs

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/fault"
)

func TestLongChainsOfManyKeysAreTooMuchToLookThrough(t *testing.T) {
	t.Parallel()
	var problems fault.Problems
	overrides := Overrides{"b": json.RawMessage("1"), "c": json.RawMessage("1")}
	config := Config{Key: "config", Environments: map[string]Overrides{"production": overrides}}
	check := newCheck(write{schemas: newSchemas()}, &level{config: config, depth: 1 << 24}, &problems)
	check.own()
	if !problems.Mentions("items") || len(fault.All(problems.Err())) != 1 {
		t.Errorf("got %v, want nothing but a refusal of the work", problems.Err())
	}
}

// A scoped key is not told that it may not do what nobody had time to look at.
func TestComparingIsPaidFor(t *testing.T) {
	t.Parallel()
	work := newBudget()
	large := json.RawMessage("[" + strings.Repeat("1,", 100_000) + "1]")
	another := json.RawMessage("[" + strings.Repeat("1, ", 100_000) + "1]")
	compared := 0
	for work.same(large, another) {
		compared++
	}
	if !work.spent() || compared > 20 || !work.same(large, large) {
		t.Errorf("compared %d times", compared)
	}
}

func TestWhatIsKeptOfAConfigHoldsOnToNothingElse(t *testing.T) {
	t.Parallel()
	text := json.RawMessage(`{"a":1,"b":2}`)
	config := Config{
		Items:        map[string]Item{"a": {Value: text[5:6], Schema: text[5:6]}, "b": {Value: text[11:12]}},
		Environments: map[string]Overrides{"x": {"a": text[5:6]}, "y": {"b": text[11:12]}},
	}
	kept := config.about(map[string]bool{"a": true})
	if len(kept.Items) != 1 || len(kept.Environments) != 1 || len(config.Items) != 2 {
		t.Fatalf("got %v", kept)
	}
	for _, value := range []json.RawMessage{kept.Items["a"].Value, kept.Items["a"].Schema, kept.Environments["x"]["a"]} {
		if string(value) != "1" || &value[0] == &text[5] {
			t.Errorf("%s is part of what was read", value)
		}
	}
}
