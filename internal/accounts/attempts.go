package accounts

import (
	"net/netip"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
)

// What wrong passwords and codes cost who sends them: after freeAttempts the next attempt waits,
// each time twice as long.
const (
	freeAttempts   = 5
	firstDelay     = time.Second
	longestDelay   = 15 * time.Minute
	attemptsKept   = time.Hour // after the last one
	maxAttemptKeys = 100_000   // when there are more, those that no longer count are dropped, or else all
)

// attempts remembers failed attempts to sign in, by person and address. The zero value
// is ready for use.
type attempts struct {
	mu     sync.Mutex
	failed map[attempt]failures
}

// attempt is who tries to sign in, and from where.
type attempt struct {
	address string // the e-mail address, or the beginning of a code; it need not exist
	network netip.Prefix
}

type failures struct {
	count int
	last  time.Time
	until time.Time // when the next attempt is admitted
}

// admit counts an attempt as failed, so that many at once cannot slip through, or
// refuses it because it comes too early.
func (a *attempts) admit(address, peer string, now time.Time) (attempt, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	who := attempt{address, network(peer)}
	before := a.failed[who]
	if now.Before(before.until) {
		refusal := fault.New(fault.RateLimited, "Too many wrong passwords or codes came from this address. Wait before you try again.")
		refusal.RetryAfter = before.until.Sub(now)
		return who, refusal
	}
	if now.Sub(before.last) > attemptsKept {
		before = failures{}
	}
	after := failures{count: before.count + 1, last: now}
	if late := after.count - freeAttempts; late >= 0 {
		after.until = now.Add(min(longestDelay, firstDelay<<min(late, 20)))
	}
	a.bound(now)
	a.failed[who] = after
	return who, nil
}

// bound forgets what makes the memory too large.
func (a *attempts) bound(now time.Time) {
	if len(a.failed) < maxAttemptKeys && a.failed != nil {
		return
	}
	for who, each := range a.failed {
		if now.After(each.until) && now.Sub(each.last) > time.Minute {
			delete(a.failed, who)
		}
	}
	a.failed = limited(a.failed, maxAttemptKeys)
}

// succeeded forgets the failures of somebody who knew the password.
func (a *attempts) succeeded(who attempt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.failed, who)
}

// withdraw takes an attempt back that was never decided.
func (a *attempts) withdraw(who attempt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if before, known := a.failed[who]; known {
		before.count, before.until = before.count-1, time.Time{}
		a.failed[who] = before
	}
}
