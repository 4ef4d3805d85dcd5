package egress

import (
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"code.dny.dev/ssrf"
)

// guard decides which addresses may be dialled.
type guard struct {
	public *ssrf.Guardian // passes public addresses
	allow  []netip.Prefix
	self   func() []netip.AddrPort
}

func newGuard(allow []netip.Prefix, self func() []netip.AddrPort) *guard {
	if self == nil {
		self = func() []netip.AddrPort { return nil }
	}
	return &guard{
		public: ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(cloudServices()...)),
		allow:  allow,
		self:   self,
	}
}

// cloudServices are addresses in public ranges that only reach the cloud's own services when dialled from inside it.
func cloudServices() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("168.63.129.16/32"), // Azure: metadata, certificates of the virtual machine
		netip.MustParsePrefix("192.80.8.124/32"),  // Equinix Metal: metadata
		netip.MustParsePrefix("161.26.0.0/16"),    // IBM Cloud: services of the private network
		netip.MustParsePrefix("166.8.0.0/14"),     // IBM Cloud: service endpoints of the private network
	}
}

// control is the dialer's last word before a connection is opened.
func (g *guard) control(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return blocked(address, "is not an address")
	}
	return g.check(target)
}

// check refuses what may not be dialled, with an *Error.
func (g *guard) check(target netip.AddrPort) error {
	// Prefixes contain no zoned and no mapped addresses.
	addr := target.Addr().Unmap().WithZone("")
	if g.isSelf(addr, target.Port()) {
		return blocked(target.String(), "is this server itself")
	}
	for _, network := range g.allow {
		if network.Contains(addr) {
			return nil
		}
	}
	if g.public.SafeAddr(addr) != nil {
		return blocked(target.Addr().String(), "is not a public address; the operator can allow its network (SIGNALBOX_ALLOW_NETWORKS)")
	}
	return nil
}

func blocked(address, why string) *Error {
	return &Error{Reason: SSRFBlocked, Detail: fmt.Sprintf("Nothing was sent: %s %s.", address, why)}
}

func (g *guard) isSelf(addr netip.Addr, port uint16) bool {
	for _, own := range g.self() {
		if own.Port() != port {
			continue
		}
		// The unspecified address connects to the machine itself.
		if own.Addr().Unmap() == addr || addr.IsUnspecified() || own.Addr().IsUnspecified() && isLocal(addr) {
			return true
		}
	}
	return false
}

// isLocal tells whether an address is one of this machine's. When the machine cannot say, it might be.
func isLocal(addr netip.Addr) bool {
	if addr.IsLoopback() {
		return true
	}
	locals, err := net.InterfaceAddrs()
	for _, local := range locals {
		if network, ok := local.(*net.IPNet); ok {
			if own, ok := netip.AddrFromSlice(network.IP); ok && own.Unmap() == addr {
				return true
			}
		}
	}
	return err != nil
}
