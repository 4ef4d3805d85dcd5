package overrides_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/overrides"
)

func same(a, b int) bool { return a == b }

func writable(managed map[string]bool, environment string) error {
	if managed[environment] {
		return nil
	}
	return fault.New(fault.EnvironmentUnmanaged, "No.")
}

func TestMerge_FrozenValuesStay(t *testing.T) {
	t.Parallel()
	managed := map[string]bool{"production": true, "staging": false}
	stored := map[string]int{"production": 1, "staging": 2, "gone": 3}
	for _, c := range []struct {
		name         string
		wanted, want map[string]int
		refused      []string
	}{
		{"left out", nil, map[string]int{"staging": 2, "gone": 3}, nil},
		{"repeated", map[string]int{"production": 9, "staging": 2, "gone": 3}, map[string]int{"production": 9, "staging": 2, "gone": 3}, nil},
		{"changed and added", map[string]int{"staging": 9, "a/b~c": 1}, nil, []string{"environments/a~1b~0c", "environments/staging"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			merged, err := overrides.Merge(managed, stored, c.wanted, same, writable)
			var refused []string
			for _, refusal := range fault.All(err) {
				refused = append(refused, refusal.Source.Path)
			}
			if diff := cmp.Diff(c.refused, refused); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
			if diff := cmp.Diff(c.want, merged); err == nil && diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
		})
	}
}

func TestChanged(t *testing.T) {
	t.Parallel()
	got := overrides.Changed(map[string]int{"same": 1, "other": 1, "gone": 1}, map[string]int{"same": 1, "other": 2, "new": 1}, same)
	if diff := cmp.Diff([]string{"gone", "new", "other"}, got); diff != "" {
		t.Error(diff)
	}
	if got := overrides.Changed[int](nil, nil, same); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestCheckCount(t *testing.T) {
	t.Parallel()
	for entries, want := range map[int]int{0: 0, overrides.MaxEntries: 0, overrides.MaxEntries + 1: 1} {
		t.Run(fmt.Sprint(entries), func(t *testing.T) {
			var problems fault.Problems
			fits := overrides.CheckCount(&problems, entries)
			refused := fault.All(problems.Err())
			if fits != (want == 0) || len(refused) != want {
				t.Errorf("%d entries: %v, %v", entries, fits, refused)
			}
			for _, refusal := range refused {
				if refusal.Source != fault.Attribute("environments") || refusal.Code != fault.Validation {
					t.Errorf("%d entries: %+v", entries, refusal)
				}
			}
		})
	}
}

func TestOnlyAndWithout(t *testing.T) {
	t.Parallel()
	values := map[string]int{"production": 1, "staging": 2}
	for _, c := range []struct {
		environment   string
		only, without map[string]int
	}{
		{"staging", map[string]int{"staging": 2}, map[string]int{"production": 1}},
		{"gone", map[string]int{}, map[string]int{"production": 1, "staging": 2}},
	} {
		t.Run(c.environment, func(t *testing.T) {
			if diff := cmp.Diff(c.only, overrides.Only(values, c.environment)); diff != "" {
				t.Errorf("only %s (-want +got):\n%s", c.environment, diff)
			}
			if diff := cmp.Diff(c.without, overrides.Without(values, c.environment)); diff != "" {
				t.Errorf("without %s (-want +got):\n%s", c.environment, diff)
			}
		})
	}
	if len(values) != 2 {
		t.Errorf("the values became %v", values)
	}
}
