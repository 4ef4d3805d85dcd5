package changes

import (
	"encoding/json"
	"slices"
	"strings"
)

// Reverted names a change that a write of its resource undoes.
type Reverted struct {
	Kind, Key string
	Seq       int64
}

// by returns the number that the change of a resource reverts, or nil. Other
// resources that change in the same transaction revert nothing.
func (r Reverted) by(kind, key string) *int64 {
	if r.Seq == 0 || r.Kind != kind || r.Key != key {
		return nil
	}
	return &r.Seq
}

// Names reports whether a change of several resources is all that the history has
// of this one. A change with a cause of another kind sums up changes of each.
func (c Change) Names(key string) bool {
	var several Several
	if c.Key != AllKeys || json.Unmarshal(c.After, &several) != nil {
		return false
	}
	cause, _, caused := strings.Cut(several.Cause, ":")
	return slices.Contains(several.Keys, key) && (!caused || cause == c.Kind)
}

// StillChanged returns which of a resource's later changes its state still has,
// given all after a number, oldest first. A change that was undone, and the one
// that did it, leave the state as if neither had been; a revert that goes back
// beyond the number is a change like any other.
func StillChanged(seq int64, later []Change) []int64 {
	// A state is named by the change that first led to it; before has the state
	// that each change met.
	before, state := make(map[int64]int64, len(later)), seq
	for _, change := range later {
		before[change.Seq] = state
		state = change.Seq
		if change.Reverts == nil {
			continue
		}
		if met, undone := before[*change.Reverts]; undone {
			state = met
		}
	}
	var still []int64
	for ; state != seq; state = before[state] {
		still = append(still, state)
	}
	slices.Reverse(still)
	return still
}
