package accounts

import (
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/allowance"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/hosts"
)

// Limits for wrong passwords and codes of one person from one address: the first freeAttempts
// are free, and the wait doubles with each further one.
const (
	freeAttempts   = 5
	firstDelay     = time.Second
	longestDelay   = 15 * time.Minute
	attemptsKept   = time.Hour   // how long failures count after the last attempt
	fewKept        = time.Minute // how long failures count if there are fewer than freeAttempts
	maxAttemptKeys = 100_000
)

// Limits for attempts from one address or network, for all people together: a burst, then a
// rate per second. Successful attempts do not count.
const (
	addressBurst, addressPerSecond = 50, 2.0
	networkBurst, networkPerSecond = 100, 4.0  // an IPv4 /24, an IPv6 /64
	siteBurst, sitePerSecond       = 400, 16.0 // an IPv6 /48, which may belong to one sender
)

// attempts limits attempts to sign in: by person and address, by address, and by network.
// The limits by address and network do not apply to a person who signed in from the address
// before. The zero value is ready for use.
type attempts struct {
	mu     sync.Mutex
	failed map[attempt]failures
	swept  time.Time
	good   map[attempt]bool // the people and addresses of earlier successful sign-ins

	addresses, networks, sites allowance.Buckets[netip.Prefix]
}

// attempt identifies the person who tries to sign in and the sender's network.
type attempt struct {
	person digest // hash of the e-mail address or of a code's first group; the person may not exist
	sender netip.Prefix
}

func newAttempt(address, peer string) attempt {
	return attempt{sha256.Sum256([]byte(address)), senderOf(peer)}
}

// admitted is an attempt that may continue. It counts as failed until it succeeds.
type admitted struct {
	attempt
	peer    netip.Addr
	known   bool // the person signed in from this address before
	counted bool // it also counts for its address and network
}

type failures struct {
	count int
	last  time.Time
	until time.Time // when the next attempt is admitted
}

// counts reports whether the failures are recent enough to count.
func (f failures) counts(now time.Time) bool {
	kept := attemptsKept
	if f.count < freeAttempts {
		kept = fewKept
	}
	return now.Before(f.until) || now.Sub(f.last) <= kept
}

// admit refuses an attempt that comes too early. Otherwise it counts the attempt as failed
// right away, so that many simultaneous attempts cannot slip through.
func (a *attempts) admit(address, peer string, now time.Time) (admitted, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	allowed, err := a.check(address, peer, now)
	if err != nil {
		return admitted{}, err
	}
	if allowed.counted = !allowed.known; allowed.counted {
		if wait := a.take(allowed.peer, now); wait > 0 {
			return admitted{}, tooMany(wait, "Too many attempts to sign in came from this address or its network. Wait before you try again.")
		}
	}
	a.count(allowed.attempt, now)
	return allowed, nil
}

// admitAnywhere is like admit, but does not count the attempt for its address and network.
func (a *attempts) admitAnywhere(address, peer string, now time.Time) (admitted, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	allowed, err := a.check(address, peer, now)
	if err == nil {
		a.count(allowed.attempt, now)
	}
	return allowed, err
}

// check refuses an attempt if the person still has to wait.
func (a *attempts) check(address, peer string, now time.Time) (admitted, error) {
	who := newAttempt(address, peer)
	if until := a.failed[who].until; now.Before(until) {
		return admitted{}, tooMany(until.Sub(now), "Too many wrong passwords or codes came from this address. Wait before you try again.")
	}
	return admitted{attempt: who, peer: hosts.PeerAddress(peer), known: a.good[who]}, nil
}

// count counts an attempt as failed.
func (a *attempts) count(who attempt, now time.Time) {
	before := a.failed[who]
	if now.Sub(before.last) > attemptsKept {
		before = failures{}
	}
	after := failures{count: before.count + 1, last: now}
	if late := after.count - freeAttempts; late >= 0 {
		after.until = now.Add(min(longestDelay, firstDelay<<min(late, 20)))
	}
	a.remember(who, after, now)
}

func tooMany(wait time.Duration, text string) error {
	refusal := fault.New(fault.RateLimited, "%s", text)
	refusal.RetryAfter = max(wait, time.Second)
	return refusal
}

// remember stores failures. If the memory is full, it does not store failures of new people.
// Only the limits of their address and network apply to them then.
func (a *attempts) remember(who attempt, latest failures, now time.Time) {
	if a.failed == nil {
		a.failed = map[attempt]failures{}
	}
	if _, known := a.failed[who]; !known && len(a.failed) >= maxAttemptKeys && !a.makeRoom(now) {
		return
	}
	a.failed[who] = latest
}

// makeRoom drops failures that no longer count, and reports whether there is room. It scans
// all failures, so it scans at most once a second.
func (a *attempts) makeRoom(now time.Time) bool {
	if now.Sub(a.swept) >= time.Second {
		a.swept = now
		for who, each := range a.failed {
			if !each.counts(now) {
				delete(a.failed, who)
			}
		}
	}
	return len(a.failed) < maxAttemptKeys
}

// places returns the buckets from which an attempt takes a token. The widest network comes
// first: if it is over its limit, no entries for its addresses are added.
func (a *attempts) places(peer netip.Addr) []place {
	a.addresses.Limit(addressBurst, addressPerSecond)
	a.networks.Limit(networkBurst, networkPerSecond)
	a.sites.Limit(siteBurst, sitePerSecond)
	found := []place{{&a.networks, networkOf(peer)}, {&a.addresses, prefixOf(peer, peer.BitLen())}}
	if peer.Is6() {
		found = append([]place{{&a.sites, prefixOf(peer, 48)}}, found...)
	}
	return found
}

type place struct {
	buckets *allowance.Buckets[netip.Prefix]
	prefix  netip.Prefix
}

// take takes one token from every bucket. If any bucket is empty, it takes no token and
// returns how long to wait.
func (a *attempts) take(peer netip.Addr, now time.Time) (wait time.Duration) {
	places := a.places(peer)
	for _, each := range places {
		if wait = each.buckets.Wait(each.prefix, now); wait > 0 {
			return wait
		}
	}
	for _, each := range places {
		each.buckets.Take(each.prefix, now)
	}
	return 0
}

// giveBack returns the tokens that take removed for an attempt.
func (a *attempts) giveBack(allowed admitted) {
	if !allowed.counted {
		return
	}
	for _, each := range a.places(allowed.peer) {
		each.buckets.Give(each.prefix)
	}
}

// settle records the outcome of an attempt and returns err. Errors that the sender did not
// cause, such as an outage, do not count as failures.
func (a *attempts) settle(allowed admitted, err error) error {
	switch {
	case err == nil:
		a.succeeded(allowed)
	case !fault.Is(err, fault.Unauthorized) && !fault.Is(err, fault.Forbidden):
		a.withdraw(allowed)
	}
	return err
}

// succeeded forgets the failures of a person who sent the right password or code.
func (a *attempts) succeeded(allowed admitted) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.failed, allowed.attempt)
	a.giveBack(allowed)
	a.good = withRoom(a.good, maxAttemptKeys)
	a.good[allowed.attempt] = true
}

// trust records that a person has signed in from an address before.
func (a *attempts) trust(address, peer string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.good = withRoom(a.good, maxAttemptKeys)
	a.good[newAttempt(address, peer)] = true
}

// withdraw uncounts the failure of an attempt that ended without a decision.
func (a *attempts) withdraw(allowed admitted) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.giveBack(allowed)
	before, remembered := a.failed[allowed.attempt]
	if !remembered || before.count <= 1 {
		delete(a.failed, allowed.attempt)
		return
	}
	before.count, before.until = before.count-1, time.Time{}
	a.failed[allowed.attempt] = before
}
