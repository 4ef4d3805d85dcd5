package stream

import (
	"maps"
	"sync"
	"time"
)

const (
	recentPeriod    = time.Hour        // fresh clients are told about changes that are at most this old
	recentCacheTime = 10 * time.Second // how long an answer is reused
)

// recent caches which kinds of resources have changed lately, so that many connecting clients cost one query. If a kind
// stays in the cache for too long, a client loads it once more than necessary.
type recent struct {
	mu    sync.Mutex
	asked time.Time
	kinds map[string]bool
	upTo  int64 // includes every change up to this sequence number
}

func newRecent() *recent { return &recent{kinds: map[string]bool{}} }

// add adds a change that the feed reported.
func (r *recent) add(seq int64, kinds ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.upTo = max(r.upTo, seq)
	for _, kind := range kinds {
		r.kinds[kind] = true
	}
}

// get returns the kinds. It returns false if the cache is too old or lacks changes up to head.
func (r *recent) get(head int64) (kinds map[string]bool, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.asked) >= recentCacheTime || r.upTo < head {
		return nil, false
	}
	return maps.Clone(r.kinds), true
}

// store caches an answer that includes every change up to head, and returns it with the kinds added since.
func (r *recent) store(kinds []string, head int64, asked time.Time) map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if head >= r.upTo {
		r.kinds, r.upTo = map[string]bool{}, head
	}
	r.asked = asked
	for _, kind := range kinds {
		r.kinds[kind] = true
	}
	return maps.Clone(r.kinds)
}
