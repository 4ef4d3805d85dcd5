package worker

import (
	"maps"
	"slices"
)

const (
	// pageSize bounds the accounts that one round covers, and the lanes of each.
	pageSize = 32
	// maxRemembered bounds the accounts whose last lane is remembered.
	maxRemembered = 4096
	// maxRefused bounds the runs that one round refuses in a lane.
	maxRefused = 1000
)

// rotation remembers the account and lanes that were served last; the next round begins after them.
type rotation struct {
	account string
	lanes   map[string]string // by account
}

func (t rotation) clone() rotation { return rotation{t.account, maps.Clone(t.lanes)} }

// served records the last served lane of an account, if the account has several.
func (t *rotation) served(account, lane string, lanes int) {
	if t.lanes == nil || len(t.lanes) >= maxRemembered {
		t.lanes = map[string]string{}
	}
	if lanes > 1 {
		t.lanes[account] = lane
	} else {
		delete(t.lanes, account)
	}
}

// page returns up to pageSize names: first the names after last, then names from the beginning.
func (r *round) page(last string, list func(after string, limit int) ([]string, error)) ([]string, error) {
	first, err := list("", pageSize)
	full := len(first) == pageSize
	r.crowded = r.crowded || full
	if err != nil || last == "" {
		return first, err
	}
	rest := first
	if full {
		if rest, err = list(last, pageSize); err != nil {
			return nil, err
		}
	}
	names := append(
		slices.DeleteFunc(slices.Clone(rest), func(name string) bool { return name <= last }),
		slices.DeleteFunc(first, func(name string) bool { return name > last })...)
	return names[:min(len(names), pageSize)], nil
}

// visited holds the accounts and lanes that were covered since a round last claimed something. A wait after every round
// without a claim would delay an account behind a thousand blocked accounts.
type visited map[string]bool

// again reports whether another round may claim more: this round claimed something or covered a new account or lane.
func (v *visited) again(r *round) bool {
	if len(r.claims) > 0 || r.refused > 0 {
		*v = nil
		return true
	}
	if *v == nil {
		*v = visited{}
	}
	before := len(*v)
	for _, name := range r.covered {
		(*v)[name] = true
	}
	if r.limited && r.crowded && len(*v) > before {
		return true
	}
	*v = nil
	return false
}
