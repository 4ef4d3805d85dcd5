package api

import (
	"cmp"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
)

// maxBuckets bounds the memory of rateLimits. When it is reached, new callers share one
// bucket.
const maxBuckets = 100_000

// rateLimits limits the requests per second of each key and person. All sessions of a key
// or person count together.
type rateLimits struct {
	perSecond rate.Limit
	burst     int

	mu      sync.Mutex
	buckets map[string]*rate.Limiter // by the id of a key or a user
	shared  *rate.Limiter
	swept   time.Time
}

func newRateLimits(perSecond float64) *rateLimits {
	l := &rateLimits{perSecond: rate.Limit(perSecond), burst: int(math.Ceil(perSecond)), buckets: map[string]*rate.Limiter{}}
	l.shared = rate.NewLimiter(l.perSecond, l.burst)
	return l
}

func (l *rateLimits) bucket(id string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket, known := l.buckets[id]
	if !known {
		if len(l.buckets) >= maxBuckets && !l.makeRoom(time.Now()) {
			return l.shared
		}
		bucket = rate.NewLimiter(l.perSecond, l.burst)
		l.buckets[id] = bucket
	}
	return bucket
}

// makeRoom forgets full buckets, which changes nothing for their callers, and reports
// whether there is room. It scans the buckets at most once a second.
func (l *rateLimits) makeRoom(now time.Time) bool {
	if now.Sub(l.swept) >= time.Second {
		l.swept = now
		for id, each := range l.buckets {
			if each.TokensAt(now) >= float64(l.burst) {
				delete(l.buckets, id)
			}
		}
	}
	return len(l.buckets) < maxBuckets
}

// take counts a request of a caller, or refuses it if the caller is over the limit.
func (l *rateLimits) take(caller accounts.Caller) error {
	if l.perSecond == 0 || l.bucket(cmp.Or(caller.KeyID, caller.UserID)).Allow() {
		return nil
	}
	who := "This key"
	if caller.IsPerson() {
		who = "One person"
	}
	refusal := fault.New(fault.RateLimited, "%s may make %g requests per second, all sessions together. Slow down and try again.", who, float64(l.perSecond))
	refusal.RetryAfter = time.Duration(float64(time.Second) / float64(l.perSecond))
	return refusal
}
