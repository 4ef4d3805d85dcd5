package settings

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	day          = 24 * time.Hour
	maxDays      = 36500 // a century, which does not overflow a duration
	minRetention = time.Hour
	minHistory   = 1 << 20
)

// anyText accepts any text. Another package parses it or opens the file.
func anyText(text string) (string, error) { return text, nil }

// hostPort accepts an address to listen on. The port must be a number: service names depend on the machine's files.
func hostPort(text string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil || !validHost(host) || !validPort(port) {
		return "", errors.New("is not host:port, for example 127.0.0.1:8080")
	}
	return text, nil
}

func validHost(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return !strings.ContainsFunc(host, func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !letter && !strings.ContainsRune("-._", r)
	})
}

func validPort(port string) bool {
	_, err := strconv.ParseUint(port, 10, 16)
	return err == nil
}

// anyPort reports whether the system chooses the port. Two equal addresses do not collide then.
func anyPort(address string) bool {
	_, port, err := net.SplitHostPort(address)
	number, _ := strconv.Atoi(port)
	return err == nil && number == 0
}

// publicURL accepts the base of links. It removes a slash at the end, so that paths can be appended.
func publicURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return "", errors.New("is not an absolute http or https URL, for example https://signalbox.example.com")
	}
	if strings.ContainsAny(text, "?#") {
		return "", errors.New("has a query or a fragment; links append paths to it, so it must end before them")
	}
	return strings.TrimRight(text, "/"), nil
}

// postgresURL accepts a URL with several hosts. It checks each host in its own URL, because net/url supports only one.
func postgresURL(text string) (string, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found || scheme != "postgres" && scheme != "postgresql" {
		return "", errors.New("is not a PostgreSQL URL, for example postgres://user:password@host:5432/name; leave it empty for SQLite")
	}
	authority, tail := rest, ""
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority, tail = rest[:end], rest[end:]
	}
	at := strings.LastIndex(authority, "@") + 1
	hosts := strings.Split(authority[at:], ",")
	for _, host := range hosts {
		if !validDatabaseHost(scheme+"://"+authority[:at]+host+tail, len(hosts) > 1) {
			return "", errors.New("is not a valid URL: write host or host:port, separate hosts by commas, and percent-encode " +
				"special characters in the user, the password and the database name")
		}
	}
	return text, nil
}

// validDatabaseHost reports whether a host is valid. An empty host means a Unix socket; it is refused if named is set.
func validDatabaseHost(text string, named bool) bool {
	u, err := url.Parse(text)
	if err != nil || u.Fragment != "" || named && u.Hostname() == "" {
		return false
	}
	_, err = url.ParseQuery(u.RawQuery)
	return err == nil && (u.Port() == "" || validPort(u.Port()))
}

// visibleText accepts texts that an Authorization header can carry.
func visibleText(least, most int) func(string) (string, error) {
	return func(text string) (string, error) {
		if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) || len(text) < least || len(text) > most {
			return "", fmt.Errorf("is not %d to %d visible ASCII characters without spaces", least, most)
		}
		return text, nil
	}
}

func rate(text string) (float64, error) {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
		return 0, errors.New("is not a number of requests per second, for example 50 or 0.5")
	}
	if number < 0 {
		return 0, errors.New("is negative; 0 means no limit")
	}
	return number, nil
}

// networks accepts CIDRs and single addresses. Its error names all invalid entries.
func networks(text string) ([]netip.Prefix, error) {
	var prefixes []netip.Prefix
	var bad []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		if p, ok := network(item); ok {
			prefixes = append(prefixes, p)
		} else {
			bad = append(bad, strconv.Quote(item))
		}
	}
	if len(bad) > 0 {
		return nil, fmt.Errorf("has entries that are not networks (%s); write 10.0.0.0/8, fd00::/8 or a single address", strings.Join(bad, ", "))
	}
	return prefixes, nil
}

// network parses one entry. It converts IPv4 addresses written as IPv6 to IPv4, which is the form of dialed addresses.
func network(item string) (netip.Prefix, bool) {
	if addr, err := netip.ParseAddr(item); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), true
	}
	p, err := netip.ParsePrefix(item)
	if err != nil {
		return netip.Prefix{}, false
	}
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked(), true
}

// duration accepts Go durations, optionally with whole days in front, such as 30d or 1d12h.
func duration(text string) (time.Duration, bool) {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		d, err := time.ParseDuration(text)
		return d, err == nil
	}
	count, err := strconv.ParseUint(days, 10, 32)
	if err != nil || count > maxDays {
		return 0, false
	}
	total := time.Duration(count) * day
	if rest == "" {
		return total, true
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 || more > maxDays*day {
		return 0, false
	}
	return total + more, true
}

func retention(text string) (time.Duration, error) {
	d, ok := duration(text)
	if !ok {
		return 0, errors.New("is not a duration, for example 30d or 12h")
	}
	if d < minRetention {
		return 0, errors.New("is too short; finished runs are kept for at least 1h")
	}
	return d, nil
}

// historySize accepts a number of bytes, with or without a unit: 1GiB, 500MiB.
func historySize(text string) (int64, error) {
	size, ok := byteSize(text)
	if !ok || size != 0 && size < minHistory {
		return 0, errors.New("is not a size from 1MiB, for example 1GiB or 500MiB, or 0 for no limit")
	}
	return size, nil
}

// byteSize parses a number of bytes, KiB, MiB, GiB or TiB.
func byteSize(text string) (int64, bool) {
	digits := strings.TrimRight(text, "KMGTiB")
	shift, known := map[string]uint{"": 0, "B": 0, "KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40}[text[len(digits):]]
	count, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !known || count < 0 || count > math.MaxInt64>>shift {
		return 0, false
	}
	return count << shift, true
}

func pendingLimit(text string) (time.Duration, error) {
	d, ok := duration(text)
	if !ok || d < time.Minute {
		return 0, errors.New("is not a duration from 1m, for example 24h or 30m")
	}
	return d, nil
}

func notNegative(text string) (time.Duration, error) {
	d, ok := duration(text)
	if !ok || d < 0 {
		return 0, errors.New("is not a duration from 0s, for example 15s or 1h")
	}
	return d, nil
}

func tokenTTL(text string) (time.Duration, error) {
	d, ok := duration(text)
	if !ok || d < time.Second {
		return 0, errors.New("is not a duration of at least 1s, for example 24h")
	}
	return d, nil
}

func wholeNumber(least, most int) func(string) (int, error) {
	return func(text string) (int, error) {
		number, err := strconv.Atoi(text)
		if err != nil || number < least || number > most {
			return 0, fmt.Errorf("is not a whole number from %d to %d", least, most)
		}
		return number, nil
	}
}

// oneOf accepts one of words, ignoring case.
func oneOf(words ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		if word := strings.ToLower(text); slices.Contains(words, word) {
			return word, nil
		}
		last := len(words) - 1
		return "", fmt.Errorf("is not %s or %s", strings.Join(words[:last], ", "), words[last])
	}
}
