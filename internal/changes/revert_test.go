package changes_test

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/changes"
)

func TestStillChanged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reverts []int64 // the change that 6, 7, 8 … reverts; 0 for none
		want    []int64 // the changes after 5 that are still in effect
	}{
		"nothing later":                   {nil, nil},
		"two":                             {[]int64{0, 0}, []int64{6, 7}},
		"reverted":                        {[]int64{0, 6}, nil},
		"one of two reverted":             {[]int64{0, 0, 7}, []int64{6}},
		"both reverted":                   {[]int64{0, 0, 7, 6}, nil},
		"a reverted revert":               {[]int64{0, 6, 7}, []int64{6}},
		"and that reverted":               {[]int64{0, 6, 7, 8}, nil},
		"the change itself was reverted":  {[]int64{5}, []int64{6}},
		"and again":                       {[]int64{5, 6}, nil},
		"one before it was reverted":      {[]int64{3}, []int64{6}},
		"a forced revert takes all along": {[]int64{0, 0, 6}, nil},
		"and brings back what it skipped": {[]int64{0, 0, 6, 7}, []int64{6}},
		"changed after a revert":          {[]int64{0, 6, 0}, []int64{8}},
	} {
		t.Run(name, func(t *testing.T) {
			var later []changes.Change
			for i, reverts := range c.reverts {
				change := changes.Change{Seq: int64(6 + i)}
				if reverts != 0 {
					change.Reverts = &reverts
				}
				later = append(later, change)
			}
			if got := changes.StillChanged(5, later); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// A state is named by the change that led to it. A revert leads to the state before another change.
func TestStillChanged_FollowsStates(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		states := map[int64]int64{0: 0} // the state after each change
		var later []changes.Change
		count := rapid.Int64Range(0, 12).Draw(t, "changes")
		for seq := int64(1); seq <= count; seq++ {
			change := changes.Change{Seq: seq}
			states[seq] = seq
			if reverts := rapid.Int64Range(0, seq-1).Draw(t, "reverts"); reverts > 0 {
				change.Reverts, states[seq] = &reverts, states[reverts-1]
			}
			later = append(later, change)
		}
		still := changes.StillChanged(0, later)
		if last := states[int64(len(later))]; (len(still) == 0) != (last == 0) || last != 0 && still[len(still)-1] != last || !slices.IsSorted(still) {
			t.Errorf("got %v, but the last state is %d of %v", still, last, states)
		}
	})
}

func TestRecord_MarksTheRevertedResource(t *testing.T) {
	t.Parallel()
	actor, tx := changes.Actor{Reverts: changes.Reverted{Kind: "thing", Key: "key", Seq: 7}}, &recorder{}
	for _, key := range []string{"key", "other"} {
		if err := changes.Record(t.Context(), tx, "account", actor, "thing", key, nil, &thing{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := changes.Record(t.Context(), tx, "account", actor, "other", "key", nil, &thing{}); err != nil {
		t.Fatal(err)
	}
	for i, change := range tx.recorded {
		if (change.Reverts != nil) != (i == 0) || i == 0 && *change.Reverts != 7 {
			t.Errorf("%d: got %+v", i, change)
		}
	}
}

func TestChange_Names(t *testing.T) {
	t.Parallel()
	after := json.RawMessage(`{"keys":["a","b\u003c"]}`)
	for key, want := range map[string]bool{"a": true, "b<": true, "keys": false, "b": false} {
		t.Run(key, func(t *testing.T) {
			if got := (changes.Change{Key: changes.AllKeys, After: after}).Names(key); got != want {
				t.Errorf("got %v", got)
			}
		})
	}
	if (changes.Change{Key: "a", After: after}).Names("a") {
		t.Error("the change of one resource names others")
	}
	for cause, want := range map[string]bool{"logger:b": true, "log_group:b": false, "environment:b": false} {
		t.Run(cause, func(t *testing.T) {
			after := json.RawMessage(`{"keys":["a"],"cause":"` + cause + `"}`)
			if got := (changes.Change{Kind: "logger", Key: changes.AllKeys, After: after}).Names("a"); got != want {
				t.Errorf("caused by %s: got %v", cause, got)
			}
		})
	}
}
