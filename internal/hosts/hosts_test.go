package hosts_test

import (
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/internal/hosts"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for want, spellings := range map[string][]string{
		"127.0.0.1":          {"127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f.1", "0X7F000001", "0177.0.0.1", "127.0.0.1.", "::ffff:127.0.0.1"},
		"0.0.0.0":            {"0", "0x", "0.0", "00.0x0.0.0"},
		"::1":                {"::1", "0:0:0:0:0:0:0:1"},
		"example.com":        {"example.com", "EXAMPLE.com", "example.com."},
		"xn--mnchen-3ya.de":  {"münchen.de", "MÜNCHEN.de", "xn--mnchen-3ya.de"},
		"256.0.0.1":          {"256.0.0.1"},
		"1.2.3.4.5":          {"1.2.3.4.5"},
		"4294967296":         {"4294967296"},
		"08.1":               {"08.1"},
		"a1":                 {"a1", "A1"},
		"fe80::1%eth0":       {"fe80::1%eth0"},
		"under_score.test":   {"under_score.test"},
		"xn--invalid_é.test": {"xn--invalid_é.test"},
	} {
		t.Run(want, func(t *testing.T) {
			for _, spelling := range spellings {
				t.Run(spelling, func(t *testing.T) {
					if got := hosts.Canonical(spelling); got != want {
						t.Errorf("%s is %s, want %s", spelling, got, want)
					}
				})
			}
		})
	}
}

func TestIsName(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"example.com": true, "münchen.de": true, "under_score": true, "127.1": true, "::1": true,
		"": false, "a b": false, "a\"b": false, "a<b>": false, "é_x": false, "a\x00": false,
	} {
		t.Run(fmt.Sprintf("%q", host), func(t *testing.T) {
			if got := hosts.IsName(host); got != want {
				t.Errorf("%q: %v", host, got)
			}
		})
	}
}

func TestIsHeader(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"example.com:80": true, "[::1]:8080": true, "": false, "é": false, "a,b#": false, "a b": false, "a/b": false,
	} {
		t.Run(fmt.Sprintf("%q", value), func(t *testing.T) {
			if got := hosts.IsHeader(value); got != want {
				t.Errorf("%q: %v", value, got)
			}
		})
	}
}

func TestIsConnectionHeader(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"connection": true, "TE": true, "Content-Length": true, "Transfer-Encoding": true, "Content-Type": false, "Host": false, "": false} {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			if got := hosts.IsConnectionHeader(name); got != want {
				t.Errorf("%q: %t", name, got)
			}
		})
	}
}
