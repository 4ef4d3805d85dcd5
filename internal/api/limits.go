package api

import (
	"math"
	"sync"

	"golang.org/x/time/rate"

	"github.com/signalbox/signalbox/internal/fault"
)

// rateLimits holds a bucket per key. Its memory is bounded by the keys there are.
type rateLimits struct {
	perSecond rate.Limit
	burst     int
	buckets   sync.Map // key id → *rate.Limiter
}

func newRateLimits(perSecond float64) *rateLimits {
	return &rateLimits{perSecond: rate.Limit(perSecond), burst: int(math.Ceil(perSecond))}
}

// take uses one request of a key's allowance, or refuses.
func (l *rateLimits) take(keyID string) error {
	if l.perSecond == 0 {
		return nil
	}
	bucket, known := l.buckets.Load(keyID)
	if !known {
		bucket, _ = l.buckets.LoadOrStore(keyID, rate.NewLimiter(l.perSecond, l.burst))
	}
	if bucket.(*rate.Limiter).Allow() {
		return nil
	}
	return fault.New(fault.RateLimited, "This key may make %g requests per second. Slow down and try again.", float64(l.perSecond)).
		With("retry_after", max(1, int(math.Ceil(1/float64(l.perSecond)))))
}
