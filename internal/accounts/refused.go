package accounts

import (
	"net/netip"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/allowance"
	"github.com/signalbox/signalbox/internal/fault"
)

// Limits for wrong keys. For an address that sends wrong keys, refusedBurst unknown keys
// are looked up, then refusedPerSecond. A wrong key that was looked up is refused without
// the database for refusedFor.
const (
	refusedFor       = 5 * time.Second
	refusedBurst     = 200
	refusedPerSecond = 10

	maxRefused = 10_000 // how many wrong keys are remembered
)

// refusals remembers wrong keys and the addresses that sent them, so that guessing keys
// costs the database little. The zero value is ready for use.
type refusals struct {
	mu        sync.Mutex
	keys      map[digest]refused
	addresses allowance.Buckets[netip.Prefix]
	// good are keys that worked once. They are always looked up, because their address
	// may be a proxy that others send wrong keys through.
	good map[digest]bool
}

// refused is a key that was not found. Once the Authenticator's generation has changed,
// the key is looked up again: some key was created or changed.
type refused struct {
	generation uint64
	until      time.Time
}

// errUnknownKey returns the refusal of a key that does not exist.
func errUnknownKey() error { return fault.New(fault.Unauthorized, "This API key is not known here.") }

// admit returns nil if a key may be looked up, else the refusal. Remembered wrong keys
// are refused only if live: else the feed may have missed that the key was created.
func (r *refusals) admit(hash digest, address string, generation uint64, live bool, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.keys[hash]; ok && live && known.generation == generation && now.Before(known.until) {
		return errUnknownKey()
	}
	sender := senderOf(address)
	if r.good[hash] || !r.addresses.Remembers(sender) {
		return nil
	}
	if r.addresses.Wait(sender, now) > 0 {
		refusal := fault.New(fault.RateLimited,
			"Many wrong API keys came from this address, so unknown keys are looked up slowly. Check the key and try again.")
		refusal.RetryAfter = time.Second
		return refusal
	}
	r.addresses.Take(sender, now) // given back if the key is right
	return nil
}

// looked records the result of looking up a key that was admitted.
func (r *refusals) looked(hash digest, address string, generation uint64, err error, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	sender := senderOf(address)
	if fault.Is(err, fault.Unauthorized) {
		if r.addresses.Limit(refusedBurst, refusedPerSecond); !r.addresses.Remembers(sender) {
			r.addresses.Take(sender, now) // its first wrong key
		}
		delete(r.good, hash)
		r.keys = withRoom(r.keys, maxRefused)
		r.keys[hash] = refused{generation: generation, until: now.Add(refusedFor)}
		return
	}
	if !r.good[hash] {
		r.addresses.Give(sender)
	}
	if err == nil {
		r.trust(hash)
	}
}

// trust remembers a key that works; the lock is held.
func (r *refusals) trust(hash digest) {
	r.good = withRoom(r.good, maxRemembered)
	r.good[hash] = true
}

// Expect remembers a new key or session by its plaintext, so that its first use is looked up
// even if others send wrong keys from the same address.
func (a *Authenticator) Expect(plaintext string) {
	hash := ParseSecret(plaintext).digest()
	a.refusals.mu.Lock()
	defer a.refusals.mu.Unlock()
	a.refusals.trust(hash)
}
