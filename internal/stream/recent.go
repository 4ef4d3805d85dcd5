package stream

import (
	"sync"
	"time"
)

const (
	// lately is how far back clients that cannot resume may have missed things.
	lately = time.Hour
	// recentFor is how long an answer to what changed lately is good: what
	// happens meanwhile is heard of.
	recentFor = 10 * time.Second
)

// recent is which kinds of resource changed lately in an account: what the
// store answered, and what the feed told since.
type recent struct {
	mu    sync.Mutex
	asked time.Time
	kinds map[string]bool
	// read is the number up to which the answer holds every change, told the
	// last that the feed told. The feed tells everything after read, because
	// nobody asks before there is a room that hears.
	read, told int64
	heard      map[string]int64 // the last number of each kind
}

func newRecent(told int64) *recent { return &recent{told: told, heard: map[string]int64{}} }

// hear notes how far the feed is, and which kinds changed on the way.
func (r *recent) hear(seq int64, kinds ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = seq
	for _, kind := range kinds {
		r.heard[kind] = seq
	}
}

// recall gives what changed lately, if that is known up to a number.
func (r *recent) recall(head int64) (kinds map[string]bool, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.asked) >= recentFor || max(r.read, r.told) < head {
		return nil, false
	}
	kinds = map[string]bool{}
	for kind := range r.kinds {
		kinds[kind] = true
	}
	for kind := range r.heard {
		kinds[kind] = true
	}
	return kinds, true
}

// learn keeps an answer that holds every change up to a number, unless a newer
// one is here.
func (r *recent) learn(kinds map[string]bool, head int64, asked time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if head < r.read {
		return
	}
	r.kinds, r.read, r.asked = kinds, head, asked
	for kind, seq := range r.heard {
		if seq <= head {
			delete(r.heard, kind)
		}
	}
}
