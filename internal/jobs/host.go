package jobs

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Host is what the request goes to, as host:port, however the URL spells it:
// the bound of requests to a host must not be multiplied by spellings.
func (c Configuration) Host() string {
	target, err := url.Parse(c.plain.URL)
	if err != nil {
		return ""
	}
	port := target.Port()
	if number, err := strconv.Atoi(port); err == nil {
		port = strconv.Itoa(number) // 080 is 80
	}
	switch {
	case port != "":
	case strings.EqualFold(target.Scheme, "https"):
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(canonicalHost(target.Hostname()), port)
}

// canonicalHost is the one spelling of a host: an address as it is usually
// written, a name in lower-case ASCII.
func canonicalHost(host string) string {
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Unmap().String()
	}
	if address, isOld := oldAddress(host); isOld {
		return address.String()
	}
	return host
}

// oldAddress reads an IPv4 address as inet_aton does: one to four numbers, of
// which the last fills all bytes that are left.
func oldAddress(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	value := uint64(0)
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		number, err := oldNumber(part, bits)
		if err != nil {
			return netip.Addr{}, false
		}
		value = value<<bits | number
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

// oldNumber reads a decimal, octal (0…) or hexadecimal (0x…) number.
func oldNumber(text string, bits int) (uint64, error) {
	switch {
	case text == "0x":
		return 0, nil
	case strings.HasPrefix(text, "0x"):
		return strconv.ParseUint(text[2:], 16, bits)
	case len(text) > 1 && text[0] == '0':
		return strconv.ParseUint(text, 8, bits)
	}
	return strconv.ParseUint(text, 10, bits)
}
