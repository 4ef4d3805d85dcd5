package api_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/api"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// TestPeer_BehindProxies: only trusted proxies are believed, and of the addresses that they pass
// on, only those that a trusted proxy has added.
func TestPeer_BehindProxies(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	const proxy, stranger = "10.0.0.1:4711", "203.0.113.9:4711"
	for name, c := range map[string]struct {
		peer    string
		headers []string // name: value
		want    string
	}{
		"no header":                       {proxy, nil, proxy},
		"a stranger without a header":     {stranger, nil, stranger},
		"a stranger with headers":         {stranger, []string{"X-Forwarded-For: 192.0.2.1", "Forwarded: for=192.0.2.1"}, stranger},
		"a client":                        {proxy, []string{"X-Forwarded-For: 192.0.2.1"}, "192.0.2.1"},
		"with a port":                     {proxy, []string{"X-Forwarded-For: 192.0.2.1:80"}, "192.0.2.1"},
		"an invented first one":           {proxy, []string{"X-Forwarded-For: 198.51.100.1, 192.0.2.1"}, "192.0.2.1"},
		"nonsense before it":              {proxy, []string{`X-Forwarded-For: ", for=, ;drop, 192.0.2.1`}, "192.0.2.1"},
		"two proxies":                     {proxy, []string{"X-Forwarded-For: 198.51.100.1, 192.0.2.1, 10.1.2.3"}, "192.0.2.1"},
		"invented proxies":                {proxy, []string{"X-Forwarded-For: 10.9.9.9, 192.0.2.1, 10.1.2.3"}, "192.0.2.1"},
		"a stranger's proxy":              {proxy, []string{"X-Forwarded-For: 192.0.2.1, 203.0.113.9"}, "203.0.113.9"},
		"two lines":                       {proxy, []string{"X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 203.0.113.9, 10.0.0.7"}, "203.0.113.9"},
		"a client in a trusted network":   {proxy, []string{"X-Forwarded-For: 10.5.5.5, 10.1.2.3"}, "10.5.5.5"},
		"IPv6":                            {"[fd00::1]:1", []string{"X-Forwarded-For: 2001:db8::1"}, "2001:db8::1"},
		"IPv6 in brackets":                {proxy, []string{"X-Forwarded-For: [2001:db8::1]"}, "2001:db8::1"},
		"IPv6 with a port":                {proxy, []string{"X-Forwarded-For: [2001:db8::1]:80"}, "2001:db8::1"},
		"IPv4 as IPv6":                    {"[::ffff:10.0.0.1]:1", []string{"X-Forwarded-For: ::ffff:192.0.2.1"}, "192.0.2.1"},
		"a zone":                          {proxy, []string{"X-Forwarded-For: fe80::1%eth0"}, "fe80::1"},
		"malformed":                       {proxy, []string{"X-Forwarded-For: 192.0.2"}, proxy},
		"malformed at its end":            {proxy, []string{"X-Forwarded-For: 192.0.2.1, localhost"}, proxy},
		"malformed before a proxy":        {proxy, []string{"X-Forwarded-For: unknown, 10.1.2.3"}, proxy},
		"empty":                           {proxy, []string{"X-Forwarded-For: "}, proxy},
		"the standard":                    {proxy, []string{`Forwarded: for=192.0.2.1;proto=https;by=10.0.0.1`}, "192.0.2.1"},
		"its spellings":                   {proxy, []string{`Forwarded: proto=https; FOR="[2001:db8::1]:80" , for="10.0.0.7"`}, "2001:db8::1"},
		"its lines":                       {proxy, []string{`Forwarded: for=198.51.100.1`, `Forwarded: for=192.0.2.1, for=10.0.0.7`}, "192.0.2.1"},
		"the standard, obfuscated":        {proxy, []string{`Forwarded: for=192.0.2.1, for=_hidden`}, proxy},
		"the standard, unknown":           {proxy, []string{`Forwarded: for=unknown`}, proxy},
		"the standard, without for":       {proxy, []string{`Forwarded: for=192.0.2.1, proto=https`}, proxy},
		"the standard, an open quote":     {proxy, []string{`Forwarded: for="192.0.2.1, for=203.0.113.9`}, proxy},
		"the standard, a comma in quotes": {proxy, []string{`Forwarded: for=198.51.100.1;x="a\", for=1.2.3.4", for=192.0.2.1`}, "192.0.2.1"},
		"both agree":                      {proxy, []string{"X-Forwarded-For: 192.0.2.1", "Forwarded: for=192.0.2.1"}, "192.0.2.1"},
		"both disagree":                   {proxy, []string{"X-Forwarded-For: 192.0.2.1", "Forwarded: for=198.51.100.1"}, proxy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := &http.Request{RemoteAddr: c.peer, Header: http.Header{}}
			for _, line := range c.headers {
				name, value, _ := strings.Cut(line, ": ")
				request.Header.Add(name, value)
			}
			if got := api.ClientOf(request, trusted...); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if got := api.ClientOf(request); got != c.peer {
				t.Errorf("without trusted proxies: got %s, want %s", got, c.peer)
			}
		})
	}
}

// TestSession_BehindProxy: behind a trusted proxy each client has limits of its own; a client that
// is not behind one cannot choose its address.
func TestSession_BehindProxy(t *testing.T) {
	t.Parallel()
	from := func(address string) option { return with("X-Forwarded-For", address) }
	wrong := func(c client, address string) answer {
		return c.signIn(attributes{"email": unique("nobody") + "@example.com", "password": "wrong"}, from(address))
	}
	t.Run("trusted", func(t *testing.T) {
		t.Parallel()
		owner := start(t, storetest.New(t, "sqlite"), func(s *settings.Settings) {
			s.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
		})
		ada := owner.join("VIEWER", "Ada")
		for _, forwarded := range []string{"192.0.2.1", "198.51.100.1, 192.0.2.1", "127.0.0.1, 192.0.2.1", "nonsense, 192.0.2.1, 127.0.0.9"} {
			t.Run(forwarded, func(t *testing.T) {
				owner := owner.in(t)
				untilLimited(t, 20, 201, func() answer {
					somebody := owner.join("VIEWER", "Somebody") // another each time: who signed in from there is not limited again
					exhaust(t, func() answer { return wrong(owner, "192.0.2.1") })
					return owner.signIn(attributes{"email": somebody.email, "password": goodPassword}, from(forwarded))
				})
			})
		}
		owner.signIn(attributes{"email": ada.email, "password": goodPassword}, from("198.51.100.1")).want(201)
		owner.signIn(attributes{"email": ada.email, "password": goodPassword}).want(201) // where she joined
	})
	t.Run("not trusted", func(t *testing.T) {
		t.Parallel()
		owner := start(t, storetest.New(t, "sqlite"))
		ada := owner.join("VIEWER", "Ada")
		exhaust(t, func() answer { return wrong(owner, "192.0.2.1") })
		untilLimited(t, 20, 401, func() answer { return wrong(owner, "198.51.100.1") })                       // an address of its own could fail 50 times
		owner.signIn(attributes{"email": ada.email, "password": goodPassword}, from("203.0.113.1")).want(201) // known at the address of the connection
	})
}

// exhaust repeats a refused request until it is refused because of its rate.
func exhaust(t *testing.T, try func() answer) {
	t.Helper()
	untilLimited(t, 2000, 401, try) // a slow machine gets some back meanwhile
}

// untilLimited tries until the answer is a 429, and wants another status before. The limits give
// attempts back as time passes, so one try alone proves nothing.
func untilLimited(t *testing.T, most, before int, try func() answer) {
	t.Helper()
	for range most {
		got := try()
		if got.status == http.StatusTooManyRequests {
			got.refused(429, problem{code: "rate_limited"})
			return
		}
		got.want(before)
	}
	t.Fatal("nothing is limited")
}
