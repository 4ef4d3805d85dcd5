package api

import (
	"cmp"
	"math"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/allowance"
	"github.com/signalbox/signalbox/internal/fault"
)

// rateLimits limits the requests per second of each key and person. All sessions of a key
// or person count together.
type rateLimits struct {
	perSecond float64

	mu      sync.Mutex
	buckets allowance.Buckets[string] // by the id of a key or a user
}

func newRateLimits(perSecond float64) *rateLimits {
	l := &rateLimits{perSecond: perSecond}
	l.buckets.Limit(math.Ceil(perSecond), perSecond)
	return l
}

// maxSignIns is how many sessions a key may open at once. Then it may open one per second: each session that is opened and
// ended is in the history, whose older content makes room for newer.
const maxSignIns = 300

func newSignInLimits() *rateLimits {
	l := &rateLimits{perSecond: 1}
	l.buckets.Limit(maxSignIns, l.perSecond)
	return l
}

// takeSignIn counts a session that a key opens, or refuses it if there were too many.
func (l *rateLimits) takeSignIn(caller accounts.Caller) error {
	if l.admits(caller.KeyID, time.Now()) {
		return nil
	}
	refusal := fault.New(fault.RateLimited, "A key may open %d sessions at once, and then one per second. Use the session that is open, or wait.", maxSignIns)
	refusal.RetryAfter = time.Second
	return refusal
}

// admits uses a token of a key or user, and reports whether it had one.
func (l *rateLimits) admits(id string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.buckets.Wait(id, now) > 0 {
		return false
	}
	l.buckets.Take(id, now)
	return true
}

// take counts a request of a caller, or refuses it if the caller is over the limit.
func (l *rateLimits) take(caller accounts.Caller) error {
	if l.perSecond == 0 || l.admits(cmp.Or(caller.KeyID, caller.UserID), time.Now()) {
		return nil
	}
	who := "This key"
	if caller.IsPerson() {
		who = "One person"
	}
	refusal := fault.New(fault.RateLimited, "%s may make %g requests per second, all sessions together. Slow down and try again.", who, l.perSecond)
	refusal.RetryAfter = time.Duration(float64(time.Second) / l.perSecond)
	return refusal
}
