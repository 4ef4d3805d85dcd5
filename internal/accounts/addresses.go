package accounts

import (
	"net/netip"

	"github.com/signalbox/signalbox/internal/hosts"
)

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

// prefixOf returns the network of an address with a prefix length.
func prefixOf(address netip.Addr, bits int) netip.Prefix {
	prefix, _ := address.Prefix(bits) // the zero address has the zero prefix
	return prefix
}

// senderOf returns the network that one sender is likely to control: the single IPv4
// address of the peer, or its IPv6 /64.
func senderOf(peer string) netip.Prefix {
	address := hosts.PeerAddress(peer)
	return prefixOf(address, min(address.BitLen(), 64))
}

// networkOf returns the network of an address: an IPv4 /24, an IPv6 /64.
func networkOf(address netip.Addr) netip.Prefix {
	if address.Is4() {
		return prefixOf(address, 24)
	}
	return prefixOf(address, min(address.BitLen(), 64))
}
