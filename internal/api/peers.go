package api

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/hosts"
)

// peers finds the address of a request's client.
type peers struct {
	trusted []netip.Prefix // the networks of proxies whose headers are trusted
}

// of returns the address of a request's client: the address of the connection, or behind
// trusted proxies the address in their headers. Each proxy appends the address that it saw.
// So the list is read from its end to the first address that is not a trusted proxy's:
// addresses before it may be forged. If the headers are unreadable or disagree, of returns
// the address of the proxy.
func (p peers) of(r *http.Request) string {
	if len(p.trusted) == 0 {
		return r.RemoteAddr
	}
	proxy, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !p.trusts(proxy.Addr()) {
		return r.RemoteAddr
	}
	listed, standard := r.Header["X-Forwarded-For"], r.Header["Forwarded"]
	client, named := p.client(strings.Split(strings.Join(listed, ","), ","))
	other, otherNamed := p.client(forwardedFor(standard))
	switch {
	case len(standard) == 0: // X-Forwarded-For alone, or neither
	case len(listed) == 0:
		client, named = other, otherNamed
	default: // a proxy sets one header and may pass on the other as its client sent it
		named = named && otherNamed && client == other
	}
	if !named {
		return r.RemoteAddr
	}
	return client.String()
}

func (p peers) trusts(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(p.trusted, func(each netip.Prefix) bool { return each.Contains(address) })
}

// client returns the last address of a list that is not a trusted proxy's, or the first
// address if all are.
func (p peers) client(list []string) (client netip.Addr, found bool) {
	for _, text := range slices.Backward(list) {
		address := hosts.PeerAddress(strings.TrimSpace(text))
		if !address.IsValid() {
			return netip.Addr{}, false
		}
		if client, found = address, true; !p.trusts(address) {
			return client, true
		}
	}
	return client, found
}

// forwardedFor returns the for= values of a Forwarded header (RFC 7239). An element without
// for= gives an empty text, which is not a valid address.
func forwardedFor(lines []string) []string {
	var found []string
	for _, element := range split(lines, ',') {
		value := ""
		for _, pair := range split([]string{element}, ';') {
			name, text, _ := strings.Cut(strings.TrimSpace(pair), "=")
			if strings.EqualFold(name, "for") {
				value = unquoted(text)
			}
		}
		found = append(found, value)
	}
	return found
}

func unquoted(text string) string {
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		return text[1 : len(text)-1] // addresses have nothing to escape
	}
	return text
}

// split cuts the lines of a header at a separator that is not in quotes.
func split(lines []string, separator rune) []string {
	var parts []string
	for _, line := range lines {
		quoted, escaped := false, false
		parts = append(parts, strings.FieldsFunc(line, func(r rune) bool {
			switch {
			case escaped:
				escaped = false
			case quoted && r == '\\':
				escaped = true
			case r == '"':
				quoted = !quoted
			}
			return r == separator && !quoted
		})...)
	}
	return parts
}
