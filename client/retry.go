package signalbox

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"slices"
	"time"
)

// RetryPolicy says how requests are retried when the server cannot be reached or answers 429 or 503, or when the first
// attempt is still in progress. Every request is retried except reports of metrics, which must not be counted twice, signing in
// (also with [Redeem]), and POSTs of [Client.Send]. A POST that must not be carried out twice has a key, see [Once].
type RetryPolicy struct {
	// Attempts limits how often a request is sent, including the first time. 0 and 1 never retry.
	Attempts int
	// MinWait is the first pause, which doubles with every attempt. Each pause is shortened at random by up to half, so that
	// many clients do not retry at the same moment.
	MinWait time.Duration
	// MaxWait limits a pause. If the server asks for a longer pause (Retry-After), the request is not retried.
	MaxWait time.Duration
}

// DefaultRetry returns the default policy: four attempts within about two seconds, longer if the server asks for it.
func DefaultRetry() RetryPolicy {
	return RetryPolicy{Attempts: 4, MinWait: 250 * time.Millisecond, MaxWait: 10 * time.Second}
}

// next returns whether to retry a request that failed with err, and the pause before the retry. random is in [0, 1).
func (p RetryPolicy) next(attempt int, r request, err error, random float64) (pause time.Duration, again bool) {
	if attempt >= p.Attempts || !r.mayRepeat() {
		return 0, false
	}
	if _, lost := errors.AsType[*connectionError](err); lost {
		return p.backoff(attempt, random), !isUntrusted(err)
	}
	apiErr, ok := errors.AsType[*APIError](err)
	if !ok || !apiErr.isPassing() {
		return 0, false
	}
	// Retry-After is a minimum: the random part may only add to it.
	pause = apiErr.RetryAfter + p.backoff(attempt, random)
	return min(pause, max(p.MaxWait, apiErr.RetryAfter)), apiErr.RetryAfter <= p.MaxWait
}

// backoff returns a pause that doubles with every attempt, up to MaxWait, less a random part.
func (p RetryPolicy) backoff(attempt int, random float64) time.Duration {
	pause := min(p.MinWait, p.MaxWait)
	for range attempt - 1 {
		pause = min(2*pause, p.MaxWait)
	}
	return pause - time.Duration(random*float64(pause)/2)
}

// isUntrusted reports whether the server's certificate was rejected: trying again cannot help.
func isUntrusted(err error) bool {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	return untrusted
}

func (r request) mayRepeat() bool {
	return r.repeatable || r.once != "" || slices.Contains([]string{http.MethodGet, http.MethodPut, http.MethodDelete}, r.method)
}

// endsWithin reports whether ctx ends before a pause is over, so that waiting is useless.
func endsWithin(ctx context.Context, pause time.Duration) bool {
	deadline, limited := ctx.Deadline()
	return limited && time.Until(deadline) < pause
}

// wait pauses unless ctx ends first.
func wait(ctx context.Context, pause time.Duration) error {
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
