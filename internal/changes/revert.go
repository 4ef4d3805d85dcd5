package changes

import (
	"encoding/json"
	"slices"
	"strings"
)

// Reverted identifies the change that a write of its resource undoes.
type Reverted struct {
	Kind, Key string
	Seq       int64
}

// by returns r.Seq if the resource is the reverted one, else nil. Other resources that change
// in the same transaction revert nothing.
func (r Reverted) by(kind, key string) *int64 {
	if r.Seq == 0 || r.Kind != kind || r.Key != key {
		return nil
	}
	return &r.Seq
}

// Names reports whether c, a change of several resources, is the only record of the change of the
// resource with this key. If the cause is of another kind, the resource also has its own record.
func (c Change) Names(key string) bool {
	var several Several
	if c.Key != AllKeys || json.Unmarshal(c.After, &several) != nil {
		return false
	}
	cause, _, caused := strings.Cut(several.Cause, ":")
	return slices.Contains(several.Keys, key) && (!caused || cause == c.Kind)
}

// StillChanged returns the sequence numbers of a resource's changes after seq that are still in
// effect. later has all changes after seq, oldest first. A change and the revert that undid it
// cancel each other out. A revert of a change that is not in later counts like any other
// change.
func StillChanged(seq int64, later []Change) []int64 {
	// A state is named by the sequence number of the change that first led to it. before has
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
