package accounts

import (
	"net/netip"
	"time"
)

// maxAllowances bounds how many senders are remembered.
const maxAllowances = 100_000

// allowances has a token bucket for each sender. Buckets that are full again are forgotten.
// When there is no room for more buckets, new senders share one, so that using many
// addresses does not lift the limit. limits must be called before use.
type allowances struct {
	burst, perSecond float64

	known  map[netip.Prefix]*allowance
	shared allowance
	swept  time.Time
}

// allowance is the token bucket of one sender.
type allowance struct {
	left float64
	at   time.Time
}

// limits sets the capacity of each bucket and its refill per second.
func (a *allowances) limits(burst, perSecond float64) {
	if a.known == nil {
		a.known = map[netip.Prefix]*allowance{}
		a.burst, a.perSecond = burst, perSecond
		a.shared.left = burst
	}
}

// of returns the allowance of a sender, refilled up to now. exists is false for a sender
// that is not remembered; its allowance is full.
func (a *allowances) of(sender netip.Prefix, now time.Time) (found *allowance, exists bool) {
	found, exists = a.known[sender]
	switch {
	case !exists && len(a.known) < maxAllowances:
		return &allowance{a.burst, now}, false
	case !exists:
		found, exists = &a.shared, true
	}
	if now.After(found.at) {
		found.left = min(a.burst, found.left+now.Sub(found.at).Seconds()*a.perSecond)
		found.at = now
	}
	return found, exists
}

// remembers reports whether the sender's allowance may be less than full.
func (a *allowances) remembers(sender netip.Prefix) bool {
	return a.known[sender] != nil || len(a.known) >= maxAllowances
}

// wait returns how long a sender has to wait for its next token; 0 if it has one now.
func (a *allowances) wait(sender netip.Prefix, now time.Time) time.Duration {
	if len(a.known) >= maxAllowances {
		a.sweep(now)
	}
	found, _ := a.of(sender, now)
	if found.left >= 1 {
		return 0
	}
	return time.Duration((1 - found.left) / a.perSecond * float64(time.Second))
}

// take uses one token of a sender.
func (a *allowances) take(sender netip.Prefix, now time.Time) {
	found, exists := a.of(sender, now)
	if !exists {
		a.known[sender] = found
	}
	found.left--
}

// give returns one token to a sender.
func (a *allowances) give(sender netip.Prefix) {
	found, exists := a.known[sender]
	switch {
	case !exists && len(a.known) < maxAllowances:
		return // its allowance is full
	case !exists:
		found = &a.shared
	}
	if found.left = min(a.burst, found.left+1); found.left >= a.burst {
		delete(a.known, sender)
	}
}

// sweep forgets senders whose allowance is full, at most once a second.
func (a *allowances) sweep(now time.Time) {
	if now.Sub(a.swept) < time.Second {
		return
	}
	a.swept = now
	for sender, each := range a.known {
		if each.left+now.Sub(each.at).Seconds()*a.perSecond >= a.burst {
			delete(a.known, sender)
		}
	}
}

// withRoom returns m with room for one more entry: it drops an arbitrary entry when m is full.
// It is for caches, where a dropped entry costs only a lookup.
func withRoom[K comparable, V any](m map[K]V, limit int) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	if len(m) >= limit {
		for key := range m {
			delete(m, key)
			break
		}
	}
	return m
}

// addressOfPeer returns the address of a peer, which may have a port. Zones are removed,
// and IPv4 addresses written as IPv6 become IPv4. Tests have peers without an address.
func addressOfPeer(peer string) netip.Addr {
	if both, err := netip.ParseAddrPort(peer); err == nil {
		return both.Addr().Unmap().WithZone("")
	}
	address, _ := netip.ParseAddr(peer)
	return address.Unmap().WithZone("")
}

// prefixOf returns the network of an address with a prefix length.
func prefixOf(address netip.Addr, bits int) netip.Prefix {
	prefix, _ := address.Prefix(bits) // the zero address has the zero prefix
	return prefix
}

// senderOf returns the network that one sender is likely to control: the single IPv4
// address of the peer, or its IPv6 /64.
func senderOf(peer string) netip.Prefix {
	address := addressOfPeer(peer)
	return prefixOf(address, min(address.BitLen(), 64))
}

// networkOf returns the network of an address: an IPv4 /24, an IPv6 /64.
func networkOf(address netip.Addr) netip.Prefix {
	if address.Is4() {
		return prefixOf(address, 24)
	}
	return prefixOf(address, min(address.BitLen(), 64))
}
