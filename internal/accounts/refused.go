package accounts

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/allowance"
	"github.com/signalbox/signalbox/internal/fault"
)

// Limits for wrong keys. If an address sends wrong keys, refusedBurst unknown keys from it
// are looked up, then refusedPerSecond. The other unknown keys of that address are checked
// together, by one query at a time: they may be right keys of services that share a proxy
// with the sender of the wrong ones. A wrong key that was looked up is refused without the
// database for refusedFor.
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
	// good are keys that worked once. They are always looked up, because their address may
	// be a proxy through which others send wrong keys.
	good map[digest]bool
}

// refused is a key that was not found. When the Authenticator's generation changes, some key
// was created or changed, so the key is looked up again.
type refused struct {
	generation uint64
	until      time.Time
}

// errUnknownKey returns the refusal of a key that does not exist.
func errUnknownKey() error { return fault.New(fault.Unauthorized, "This API key is not known here.") }

// admit returns the refusal of a key that is known to be wrong. crowded reports that the address has sent many wrong keys,
// so that the key must be checked together with others before it is looked up. If live is false, the feed may have missed
// the creation of a key, so remembered wrong keys are looked up again.
func (r *refusals) admit(hash digest, address string, generation uint64, live bool, now time.Time) (crowded bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.keys[hash]; ok && live && known.generation == generation && now.Before(known.until) {
		return false, errUnknownKey()
	}
	sender := senderOf(address)
	if r.good[hash] || !r.addresses.Remembers(sender) {
		return false, nil
	}
	if r.addresses.Wait(sender, now) > 0 {
		return true, nil
	}
	r.addresses.Take(sender, now) // given back if the key is right
	return false, nil
}

// refuse remembers a wrong key. The caller holds the lock.
func (r *refusals) refuse(hash digest, generation uint64, now time.Time) {
	delete(r.good, hash)
	r.keys = withRoom(r.keys, maxRefused)
	r.keys[hash] = refused{generation: generation, until: now.Add(refusedFor)}
}

// admit returns nil if a key or session may be looked up, else its refusal.
func (a *Authenticator) admit(ctx context.Context, secret Secret, peer string, generation uint64) error {
	hash := secret.digest()
	crowded, err := a.refusals.admit(hash, peer, generation, a.Live(), a.Now())
	if err != nil || !crowded {
		return err
	}
	exists, err := a.checks.Do(ctx, struct{}{}, secret.Hash(), a.Directory.Existing)
	if err != nil {
		return err
	}
	a.refusals.mu.Lock()
	defer a.refusals.mu.Unlock()
	if !exists[secret.Hash()] {
		a.refusals.refuse(hash, generation, a.Now())
		return errUnknownKey()
	}
	a.refusals.trust(hash)
	return nil
}

// looked records the result of looking up a key that was admitted.
func (r *refusals) looked(hash digest, address string, generation uint64, err error, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	sender := senderOf(address)
	if fault.Is(err, fault.Unauthorized) {
		if r.addresses.Limit(refusedBurst, refusedPerSecond); !r.addresses.Remembers(sender) {
			r.addresses.Take(sender, now) // the sender's first wrong key
		}
		r.refuse(hash, generation, now)
		return
	}
	if !r.good[hash] {
		r.addresses.Give(sender)
	}
	if err == nil {
		r.trust(hash)
	}
}

// trust remembers a key that works. The caller holds the lock.
func (r *refusals) trust(hash digest) {
	r.good = withRoom(r.good, maxRemembered)
	r.good[hash] = true
}

// Expect remembers the plaintext of a new key or session. Its first use is then looked up
// even if others send wrong keys from the same address.
func (a *Authenticator) Expect(plaintext string) {
	hash := ParseSecret(plaintext).digest()
	a.refusals.mu.Lock()
	defer a.refusals.mu.Unlock()
	a.refusals.trust(hash)
}
