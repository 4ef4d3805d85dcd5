package accounts

import (
	"net/netip"
	"time"
)

// maxAllowances bounds how many senders an allowances remembers.
const maxAllowances = 100_000

// allowances are token buckets by where something comes from. A bucket that is full again
// is forgotten. Senders for whom there is no room share one bucket, so that nobody's limit
// is lifted by somebody who has many addresses. limits must be called before use.
type allowances struct {
	burst, perSecond float64

	known  map[netip.Prefix]*allowance
	shared allowance
	swept  time.Time
}

// allowance is what is left to a sender.
type allowance struct {
	left float64
	at   time.Time
}

// limits sets what a sender may do at once, and per second after that.
func (a *allowances) limits(burst, perSecond float64) {
	if a.known == nil {
		a.known = map[netip.Prefix]*allowance{}
		a.burst, a.perSecond = burst, perSecond
		a.shared.left = burst
	}
}

// of returns the allowance of a sender as it is at an instant; exists is false for one
// that is not remembered and has everything left.
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

// remembers reports whether a sender may have less left than everything.
func (a *allowances) remembers(sender netip.Prefix) bool {
	return a.known[sender] != nil || len(a.known) >= maxAllowances
}

// wait returns how long a sender has to wait for its next turn: 0 is not at all.
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

// take uses one of a sender's turns.
func (a *allowances) take(sender netip.Prefix, now time.Time) {
	found, exists := a.of(sender, now)
	if !exists {
		a.known[sender] = found
	}
	found.left--
}

// give returns a turn to a sender.
func (a *allowances) give(sender netip.Prefix) {
	found, exists := a.known[sender]
	switch {
	case !exists && len(a.known) < maxAllowances:
		return // it has everything left
	case !exists:
		found = &a.shared
	}
	if found.left = min(a.burst, found.left+1); found.left >= a.burst {
		delete(a.known, sender)
	}
}

// sweep forgets senders that have everything left, at most once a second.
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

// withRoom returns m with room for one more entry: it drops any one when m is full. It is for
// entries that only cost a lookup when they are forgotten.
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

// addressOfPeer returns the address of a peer, which may come with a port. Zones do not
// count, and IPv4 addresses written as IPv6 are IPv4. Tests have peers without one.
func addressOfPeer(peer string) netip.Addr {
	if both, err := netip.ParseAddrPort(peer); err == nil {
		return both.Addr().Unmap().WithZone("")
	}
	address, _ := netip.ParseAddr(peer)
	return address.Unmap().WithZone("")
}

// prefixOf returns the network of an address that has some bits.
func prefixOf(address netip.Addr, bits int) netip.Prefix {
	prefix, _ := address.Prefix(bits) // it is zero for no address
	return prefix
}

// senderOf returns what one sender is likely to have of the address of a peer: all
// of an IPv4 address, the first half of an IPv6 address.
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
