package accounts

import (
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
)

// What wrong keys may cost. An address that sends them may have refusedBurst looked
// up, and refusedPerSecond after that; a wrong key that was looked up is refused
// without the database for refusedFor.
const (
	refusedFor       = 5 * time.Second
	refusedBurst     = 200
	refusedPerSecond = 10

	maxRefused = 10_000 // wrong keys that are remembered
)

// refusals remembers wrong keys and who sent them, so that guessing keys costs the
// database little. The zero value is ready for use.
type refusals struct {
	mu        sync.Mutex
	keys      map[digest]refused
	addresses allowances
	// good are keys that worked once. They are looked up whoever else sends wrong
	// ones from the same address, which may be that of a proxy.
	good map[digest]bool
}

// refused is a key that was not found. It may be found after the generation of the
// Authenticator changed: then some key was created or changed.
type refused struct {
	generation uint64
	until      time.Time
}

// errUnknownKey is the refusal of a key that does not exist.
func errUnknownKey() error { return fault.New(fault.Unauthorized, "This API key is not known here.") }

// admit reports whether a key may be looked up, as nil, or why it is refused. The
// memory of refused keys counts only if live, as that of others does.
func (r *refusals) admit(hash digest, address string, generation uint64, live bool, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.keys[hash]; ok && live && known.generation == generation && now.Before(known.until) {
		return errUnknownKey()
	}
	sender := senderOf(address)
	if r.good[hash] || !r.addresses.remembers(sender) {
		return nil
	}
	if r.addresses.wait(sender, now) > 0 {
		refusal := fault.New(fault.RateLimited,
			"Many wrong API keys came from this address, so that unknown ones are looked up slowly. Check the key, and try again.")
		refusal.RetryAfter = time.Second
		return refusal
	}
	r.addresses.take(sender, now) // given back if the key is right
	return nil
}

// looked records the result of looking up a key that was admitted.
func (r *refusals) looked(hash digest, address string, generation uint64, err error, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	sender := senderOf(address)
	if fault.Is(err, fault.Unauthorized) {
		if r.addresses.limits(refusedBurst, refusedPerSecond); !r.addresses.remembers(sender) {
			r.addresses.take(sender, now) // its first wrong key
		}
		delete(r.good, hash)
		r.keys = withRoom(r.keys, maxRefused)
		r.keys[hash] = refused{generation: generation, until: now.Add(refusedFor)}
		return
	}
	if !r.good[hash] {
		r.addresses.give(sender)
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

// Expect takes note of the plaintext of a new key or session, so that its first use is looked up
// whoever else sends wrong ones from the same address.
func (a *Authenticator) Expect(plaintext string) {
	hash := ParseSecret(plaintext).digest()
	a.refusals.mu.Lock()
	defer a.refusals.mu.Unlock()
	a.refusals.trust(hash)
}
