// Package hosts reads the hosts of URLs, for both jobs and egress. If one of them took a host for a name and the other for
// an address, a request could end up where it must not go. The package also says which headers a request may not set, so
// that egress can send every job that is accepted.
package hosts

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// ASCII returns a host in the form in which it is looked up and sent.
func ASCII(host string) (string, error) {
	if isASCII(host) {
		return host, nil
	}
	return idna.Lookup.ToASCII(host)
}

// Canonical returns the one spelling of a host: an address as it is usually written, a name in lower-case ASCII.
func Canonical(host string) string {
	if ascii, err := ASCII(host); err == nil {
		host = ascii
	}
	if address, ok := Address(host); ok {
		return address.Unmap().String()
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// Address parses a host that is an address. It accepts every spelling that any resolver would take for an address, so that
// the outcome does not depend on the resolver.
func Address(host string) (netip.Addr, bool) {
	host = strings.TrimSuffix(host, ".")
	if address, err := netip.ParseAddr(host); err == nil {
		return address, true
	}
	return oldIPv4(host)
}

// oldIPv4 parses an IPv4 address as inet_aton does: one to four parts, each decimal, octal or hexadecimal; the last one
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
		number, ok := oldNumber(part, bits)
		if !ok {
			return netip.Addr{}, false
		}
		value = value<<bits | number
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
	number, err := strconv.ParseUint(text, base, bits)
	return number, err == nil
}

// punctuation holds the characters that a host may have besides letters and digits.
const punctuation = "!$%&'()*+,-.:;=[]_~"

// IsHeader reports whether a Host header can be sent as it is.
func IsHeader(value string) bool {
	return value != "" && !strings.ContainsFunc(value, func(r rune) bool { return r >= utf8.RuneSelf || isForbidden(r) })
}

// IsName reports whether a URL's host can be looked up and sent.
func IsName(host string) bool {
	_, err := ASCII(host)
	return err == nil && host != "" && !strings.ContainsFunc(host, isForbidden)
}

// isForbidden reports whether a character cannot be part of a host. Other scripts are allowed: lookups translate them.
func isForbidden(r rune) bool {
	isPlain := '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r >= utf8.RuneSelf
	return !isPlain && !strings.ContainsRune(punctuation, r)
}
