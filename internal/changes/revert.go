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

// by returns r.Seq if the resource is the reverted one, else nil: other
// resources that change in the same transaction revert nothing.
func (r Reverted) by(kind, key string) *int64 {
	if r.Seq == 0 || r.Kind != kind || r.Key != key {
		return nil
	}
	return &r.Seq
}

// Names reports whether a change of several resources is the only record of the
// resource's change. If the cause is of another kind, the resource has its own record.
func (c Change) Names(key string) bool {
	var several Several
	if c.Key != AllKeys || json.Unmarshal(c.After, &several) != nil {
		return false
	}
	cause, _, caused := strings.Cut(several.Cause, ":")
	return slices.Contains(several.Keys, key) && (!caused || cause == c.Kind)
}

// StillChanged returns the numbers of a resource's changes after seq that are still
// in effect. later has all changes after seq, oldest first. A change and the revert
// that undid it cancel each other out. A revert of a change that is not in later
// counts as a change like any other.
func StillChanged(seq int64, later []Change) []int64 {
	// The number of the change that first led to a state names the state. before has
	// the state before each change.
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
