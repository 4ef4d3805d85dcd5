package changes

import (
	"encoding/json"
	"slices"
)

// Revert is a change that is being undone by a write of its resource. The actor
// of the write carries it to where the write is recorded.
type Revert struct {
	Kind, Key string
	Seq       int64
	// Made is the change that undid it, as it was recorded.
	Made Change
}

// of returns the number of the change that a write of a resource undoes, or nil.
// What else changes with the resource undoes nothing.
func (r *Revert) of(kind, key string) *int64 {
	if r == nil || r.Kind != kind || r.Key != key {
		return nil
	}
	return &r.Seq
}

// Recorded takes a change as it was recorded, by whoever does so: only then it has
// a number.
func (r *Revert) Recorded(made Change) {
	if r != nil && made.Reverts != nil {
		r.Made = made
	}
}

// Names reports whether a change is one of several resources, this one among them.
func (c Change) Names(key string) bool {
	var several Several
	return c.Key == AllKeys && json.Unmarshal(c.After, &several) == nil && slices.Contains(several.Keys, key)
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
