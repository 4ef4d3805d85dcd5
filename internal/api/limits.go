package api

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/signalbox/signalbox/internal/fault"
)

// maxBuckets bounds the memory of rateLimits. When it is reached, every key starts
// with a full bucket again.
const maxBuckets = 100_000

// rateLimits limits the requests per second of each key.
type rateLimits struct {
	perSecond rate.Limit
	burst     int

	mu      sync.Mutex
	buckets map[string]*rate.Limiter // by key id
}

func newRateLimits(perSecond float64) *rateLimits {
	return &rateLimits{perSecond: rate.Limit(perSecond), burst: int(math.Ceil(perSecond)), buckets: map[string]*rate.Limiter{}}
}

func (l *rateLimits) bucket(keyID string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket, known := l.buckets[keyID]
	if !known {
		if len(l.buckets) >= maxBuckets {
			clear(l.buckets)
		}
		bucket = rate.NewLimiter(l.perSecond, l.burst)
		l.buckets[keyID] = bucket
	}
	return bucket
}

// take uses one request of a key's allowance, or refuses.
func (l *rateLimits) take(keyID string) error {
	if l.perSecond == 0 || l.bucket(keyID).Allow() {
		return nil
	}
	refusal := fault.New(fault.RateLimited, "This key may make %g requests per second. Slow down and try again.", float64(l.perSecond))
	refusal.RetryAfter = time.Duration(float64(time.Second) / float64(l.perSecond))
	return refusal
}
