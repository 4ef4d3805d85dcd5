package worker

import "maps"

const (
	// maxTurns bounds the accounts that are served by one claim, and the lanes
	// of each of them.
	maxTurns = 32
	// maxRemembered bounds the accounts whose last lane is remembered.
	maxRemembered = 4096
)

// turns remembers who was served last: the next in the order is first the
// next time.
type turns struct {
	account string
	lanes   map[string]string // by account
}

func (t turns) copy() turns { return turns{t.account, maps.Clone(t.lanes)} }

// served remembers the last lane of an account that was served. With one lane
// there is no turn to remember.
func (t *turns) served(account, lane string, lanes int) {
	if t.lanes == nil || len(t.lanes) >= maxRemembered {
		t.lanes = map[string]string{}
	}
	if lanes > 1 {
		t.lanes[account] = lane
	} else {
		delete(t.lanes, account)
	}
}

// inTurn lists what waits, in order, but from the one after the last that was
// served, and then from the beginning.
func (r *round) inTurn(last string, list func(after string, limit int) ([]string, error)) ([]string, error) {
	first, err := list("", maxTurns)
	r.crowded = r.crowded || len(first) == maxTurns
	if err != nil || last == "" {
		return first, err
	}
	rest := first
	if len(first) == maxTurns {
		if rest, err = list(last, maxTurns); err != nil {
			return nil, err
		}
	}
	var waiting, before []string
	for _, each := range rest {
		if each > last {
			waiting = append(waiting, each)
		}
	}
	for _, each := range first {
		if each <= last && len(waiting)+len(before) < maxTurns {
			before = append(before, each)
		}
	}
	return append(waiting, before...), nil
}

// sweep is a walk over all that waits, when that is more than one round looks
// at. It goes on while a round claims something or finds somebody new; after
// that only a landing, a wake or the next look can change anything.
type sweep struct{ looked map[string]bool }

// goesOn tells whether another round may find more than this one.
func (s *sweep) goesOn(r *round) bool {
	if len(r.claims) > 0 || r.refused > 0 {
		s.looked = nil
		return true
	}
	if !r.limited || !r.crowded {
		s.looked = nil
		return false
	}
	if s.looked == nil {
		s.looked = map[string]bool{}
	}
	known := len(s.looked)
	for _, name := range r.looked {
		s.looked[name] = true
	}
	if len(s.looked) > known {
		return true
	}
	s.looked = nil
	return false
}
