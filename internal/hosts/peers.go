package hosts

import (
	"net/netip"
	"strings"
)

// PeerAddress returns the address of a peer, with or without a port or brackets. Zones are removed, and IPv4 addresses
// written as IPv6 become IPv4. The address of an unreadable text is not valid.
func PeerAddress(peer string) netip.Addr {
	if both, err := netip.ParseAddrPort(peer); err == nil {
		return both.Addr().Unmap().WithZone("")
	}
	if strings.HasPrefix(peer, "[") && strings.HasSuffix(peer, "]") {
		peer = peer[1 : len(peer)-1]
	}
	address, _ := netip.ParseAddr(peer)
	return address.Unmap().WithZone("")
}
