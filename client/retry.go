package signalbox

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"slices"
	"time"
)

// RetryPolicy says how requests are repeated that failed for now: the server
// could not be reached, or answered 429 or 503. Only requests whose repetition
// does no harm are: reads, replacements, deletions, revocations, evaluations and
// reports of contexts, flags and loggers. Others, such as creations and
// measurements, are sent once.
type RetryPolicy struct {
	// Attempts bounds how often a request is sent, the first time included.
	// 1 never repeats, and so does 0.
	Attempts int
	// MinWait is about how long the first pause is; each later one doubles.
	// Every pause is shortened at random by up to half, so that many clients
	// do not come back at the same moment.
	MinWait time.Duration
	// MaxWait bounds a pause. A server that asks for a longer one (Retry-After)
	// gets no further attempt, and the caller its answer at once.
	MaxWait time.Duration
}

// DefaultRetry is the policy of a client that was given none: four attempts
// within about two seconds, longer when the server asks for it.
func DefaultRetry() RetryPolicy {
	return RetryPolicy{Attempts: 4, MinWait: 250 * time.Millisecond, MaxWait: 10 * time.Second}
}

// next tells whether a request that failed on an attempt is repeated, and
// after which pause. random is a number from 0 up to 1.
func (p RetryPolicy) next(attempt int, r request, err error, random float64) (pause time.Duration, again bool) {
	if attempt >= p.Attempts || !r.mayRepeat() {
		return 0, false
	}
	if _, lost := errors.AsType[*connectionError](err); lost {
		_, distrusted := errors.AsType[*tls.CertificateVerificationError](err)
		return p.backoff(attempt, random), !distrusted
	}
	refusal, refused := errors.AsType[*APIError](err)
	if !refused || refusal.StatusCode != http.StatusTooManyRequests && refusal.StatusCode != http.StatusServiceUnavailable {
		return 0, false
	}
	// What the server asks for is a minimum: chance may only add to it.
	pause = refusal.RetryAfter + p.backoff(attempt, random)
	return min(pause, max(p.MaxWait, refusal.RetryAfter)), refusal.RetryAfter <= p.MaxWait
}

// backoff doubles with every attempt, up to the bound, less a random part.
func (p RetryPolicy) backoff(attempt int, random float64) time.Duration {
	pause := min(p.MinWait, p.MaxWait)
	for range attempt - 1 {
		pause = min(2*pause, p.MaxWait)
	}
	return pause - time.Duration(random*float64(pause)/2)
}

func (r request) mayRepeat() bool {
	return r.repeatable || slices.Contains([]string{http.MethodGet, http.MethodPut, http.MethodDelete}, r.method)
}

// endsWithin tells whether a context ends before a pause does: then there is
// no use in waiting for it.
func endsWithin(ctx context.Context, pause time.Duration) bool {
	deadline, limited := ctx.Deadline()
	return limited && time.Until(deadline) < pause
}

// wait pauses unless the context ends first.
func wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
