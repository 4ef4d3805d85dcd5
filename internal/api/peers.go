package api

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// peers finds out where requests come from.
type peers struct {
	trusted []netip.Prefix // proxies that tell the truth about who called them
}

// of returns the address of a request's client: that of the connection, or behind trusted
// proxies the one that they name. Proxies append to what they got, so the list is read from
// its end, up to the first address that no trusted proxy has: what precedes it may be made
// up. Where the headers cannot be read, or do not agree, it is the address of the proxy.
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
	default: // a proxy sets one of them and may pass on the other as its client sent it
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
// one if all are.
func (p peers) client(list []string) (client netip.Addr, found bool) {
	for _, text := range slices.Backward(list) {
		address, readable := parseNode(strings.TrimSpace(text))
		if !readable {
			return netip.Addr{}, false
		}
		if client, found = address, true; !p.trusts(address) {
			return client, true
		}
	}
	return client, found
}

// parseNode reads an address with or without a port.
func parseNode(text string) (netip.Addr, bool) {
	if both, err := netip.ParseAddrPort(text); err == nil {
		return both.Addr().Unmap().WithZone(""), true
	}
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		text = text[1 : len(text)-1]
	}
	address, err := netip.ParseAddr(text)
	return address.Unmap().WithZone(""), err == nil
}

// forwardedFor returns the values of for= of a Forwarded header (RFC 7239). An element
// without one is empty, which no address is.
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
