package egress

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// guard decides which addresses may be dialed.
type guard struct {
	public *ssrf.Guardian // allows public addresses
	allow  []netip.Prefix
	self   func() []netip.AddrPort
}

func newGuard(allow []netip.Prefix, self func() []netip.AddrPort) *guard {
	if self == nil {
		self = func() []netip.AddrPort { return nil }
	}
	public := ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(cloudServices()...))
	return &guard{public: public, allow: allow, self: self}
}

// cloudServices returns public addresses that reach a cloud's own services if they are dialed from inside the cloud.
func cloudServices() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("168.63.129.16/32"), // Azure: metadata, certificates of the virtual machine
		netip.MustParsePrefix("192.80.8.124/32"),  // Equinix Metal: metadata
		netip.MustParsePrefix("161.26.0.0/16"),    // IBM Cloud: services of the private network
		netip.MustParsePrefix("166.8.0.0/14"),     // IBM Cloud: service endpoints of the private network
	}
}

// control checks the address that is about to be dialed.
func (g *guard) control(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return blocked(address, "is not an address")
	}
	if refusal := g.check(target); refusal != nil { // a nil *Error as an error would not be nil
		return refusal
	}
	return nil
}

// check returns the reason why an address may not be dialed, or nil.
func (g *guard) check(target netip.AddrPort) *Error {
	addr := target.Addr().Unmap().WithZone("") // prefixes match neither mapped nor zoned addresses
	if g.isSelf(addr, target.Port()) {
		return blocked(target.String(), "is this server itself")
	}
	isAllowed := slices.ContainsFunc(g.allow, func(network netip.Prefix) bool { return network.Contains(addr) })
	if !isAllowed && g.public.SafeAddr(addr) != nil {
		return blocked(target.Addr().String(), "is not a public address; the operator can allow its network (SIGNALBOX_ALLOW_NETWORKS)")
	}
	return nil
}

func blocked(address, why string) *Error {
	return &Error{Reason: SSRFBlocked, Detail: fmt.Sprintf("Nothing was sent: %s %s.", address, why)}
}

// isSelf reports whether this server listens on an address. Dialing the unspecified address reaches the machine itself.
func (g *guard) isSelf(addr netip.Addr, port uint16) bool {
	return slices.ContainsFunc(g.self(), func(own netip.AddrPort) bool {
		return own.Port() == port &&
			(own.Addr().Unmap() == addr || addr.IsUnspecified() || own.Addr().IsUnspecified() && isLocal(addr))
	})
}

// isLocal reports whether an address belongs to this machine. It returns true if the machine's addresses are unknown.
func isLocal(addr netip.Addr) bool {
	if addr.IsLoopback() {
		return true
	}
	locals, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(locals, func(local net.Addr) bool {
		network, ok := local.(*net.IPNet)
		if !ok {
			return false
		}
		own, ok := netip.AddrFromSlice(network.IP)
		return ok && own.Unmap() == addr
	})
}
