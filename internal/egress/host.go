package egress

import (
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// asciiHost gives a URL's host as it is looked up and sent: in ASCII, without the brackets of an address.
func asciiHost(host string) (string, error) {
	for i := range len(host) {
		if host[i] >= 0x80 {
			return idna.Lookup.ToASCII(host)
		}
	}
	return host, nil
}

// literal reads a host that is an address in any spelling that some resolver would take for one, so that no resolver is
// asked what it means.
func literal(host string) (netip.Addr, bool) {
	host = strings.TrimSuffix(host, ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr, true
	}
	return oldIPv4(host)
}

// oldIPv4 reads an IPv4 address as inet_aton does: one to four parts, each decimal, octal or hexadecimal; the last one
// fills all bytes that are left.
func oldIPv4(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		n, ok := oldNumber(part, bits)
		if !ok {
			return netip.Addr{}, false
		}
		value = value<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

func oldNumber(text string, bits int) (uint64, bool) {
	base := 10
	switch {
	case len(text) > 1 && (text[:2] == "0x" || text[:2] == "0X"):
		text, base = text[2:], 16
		if text == "" {
			return 0, true // inet_aton reads 0x as 0
		}
	case len(text) > 1 && text[0] == '0':
		base = 8
	}
	n, err := strconv.ParseUint(text, base, bits)
	return n, err == nil
}
