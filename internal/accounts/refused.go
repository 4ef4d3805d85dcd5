package accounts

import (
	"net/netip"
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

	// The memory is bounded: when one of these is reached, it is emptied.
	maxRefused   = 10_000
	maxAddresses = 10_000
)

// refusals remembers wrong keys and who sent them, so that guessing keys costs the
// database little. The zero value is ready for use.
type refusals struct {
	mu        sync.Mutex
	keys      map[digest]refused
	addresses map[netip.Prefix]*allowance
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

// allowance is how many unknown keys an address may still have looked up.
type allowance struct {
	left float64
	at   time.Time
}

func (a *allowance) refill(now time.Time) {
	a.left = min(refusedBurst, a.left+now.Sub(a.at).Seconds()*refusedPerSecond)
	a.at = now
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
	allowed := r.addresses[network(address)]
	if allowed == nil || r.good[hash] {
		return nil
	}
	if allowed.refill(now); allowed.left < 1 {
		refusal := fault.New(fault.RateLimited,
			"Many wrong API keys came from this address, so that unknown ones are looked up slowly. Check the key, and try again.")
		refusal.RetryAfter = time.Second
		return refusal
	}
	allowed.left-- // given back if the key is right
	return nil
}

// looked records the result of looking up a key that was admitted.
func (r *refusals) looked(hash digest, address string, generation uint64, err error, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if fault.Is(err, fault.Unauthorized) {
		r.refuse(hash, network(address), refused{generation: generation, until: now.Add(refusedFor)})
		return
	}
	if allowed := r.addresses[network(address)]; allowed != nil && !r.good[hash] {
		allowed.left = min(refusedBurst, allowed.left+1)
	}
	if err == nil {
		r.trust(hash)
	}
}

// trust remembers a key that works; the lock is held.
func (r *refusals) trust(hash digest) {
	r.good = limited(r.good, maxRemembered)
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

func (r *refusals) refuse(hash digest, address netip.Prefix, entry refused) {
	delete(r.good, hash)
	r.keys = limited(r.keys, maxRefused)
	r.keys[hash] = entry
	if r.addresses[address] == nil {
		r.addresses = limited(r.addresses, maxAddresses)
		r.addresses[address] = &allowance{left: refusedBurst - 1, at: entry.until.Add(-refusedFor)}
	}
}

// limited returns the map, or an empty one when there is none or it is full.
func limited[K comparable, V any](m map[K]V, limit int) map[K]V {
	if m == nil || len(m) >= limit {
		return map[K]V{}
	}
	return m
}

// network returns what one sender is likely to have of the address of a peer: all
// of an IPv4 address, the first half of an IPv6 address. Port and zone do not count.
func network(peer string) netip.Prefix {
	address, err := netip.ParseAddrPort(peer)
	if err != nil {
		return netip.Prefix{} // tests have such peers
	}
	ip := address.Addr().Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	prefix, _ := ip.Prefix(bits) // the length is valid
	return prefix
}
