package api_test

import "testing"

// TestOrigins_CookieWrites: writes with a cookie are accepted or refused by the headers that browsers send.
func TestOrigins_CookieWrites(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	ada := owner.join("MEMBER", "Ada")
	for _, c := range []struct {
		name, origin, site string
		allowed            bool
	}{
		{"our own page", owner.node.URL, "same-origin", true},
		{"our own page in an old browser", owner.node.URL, "", true},
		{"the address bar", "", "none", true},
		{"no browser", "", "", true},
		{"another site", "https://evil.example", "cross-site", false},
		{"another site in an old browser", "https://evil.example", "", false},
		{"a sibling domain", "https://sibling.example", "same-site", false},
		{"another port of this machine", "http://127.0.0.1:1", "same-site", false},
		{"a sandboxed frame", "null", "cross-site", false},
		{"a sandboxed frame in an old browser", "null", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			owner := owner.in(t)
			headers := []option{with("Origin", c.origin), with("Sec-Fetch-Site", c.site)}
			write := func(as client) answer {
				got := as.post(servicesPath, envelope("", unique("service"), attributes{}), headers...)
				got.what += " from " + c.name
				return got
			}
			ada.get(servicesPath, headers...).want(200) // SameSite and the missing CORS headers guard reads
			write(owner).want(201)                      // a key is no cookie
			report := ada.post(contextsPath+"/bulk", `{"contexts":[]}`, headers...)
			evaluated := ada.post(ofrepPath, `{"context":{}}`, append(headers, with("X-Signalbox-Environment", "production"))...)
			signed := owner.signIn(attributes{"api_key": owner.key}, headers...)
			redeemed := owner.as("").post(redeemPath, `{"token":"x","password":"long enough"}`, headers...)
			if c.allowed {
				write(ada.client).want(201)
				report.want(200)
				evaluated.want(200)
				signed.want(201)
				redeemed.want(404)
				return
			}
			write(ada.client).refused(403, forbidden())
			report.refused(403, forbidden())
			evaluated.want(403)
			signed.refused(403, forbidden())
			redeemed.refused(403, forbidden())
		})
	}
}

// TestOrigins_CookieSockets: browsers let every page open a socket, with the cookie.
func TestOrigins_CookieSockets(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	ada := owner.join("VIEWER", "Ada")
	const path = "/api/ws/v1/events"
	for name, headers := range map[string][]option{
		"no browser":                     nil,
		"another site":                   {with("Origin", "https://evil.example"), with("Sec-Fetch-Site", "cross-site")},
		"another site in an old browser": {with("Origin", "https://evil.example")},
		"a sandboxed frame":              {with("Origin", "null")},
		"a sibling domain":               {with("Origin", owner.node.URL), with("Sec-Fetch-Site", "same-site")},
	} {
		t.Run(name, func(t *testing.T) {
			ada.in(t).get(path, headers...).refused(403, forbidden())
			owner.in(t).get(path, headers...).want(400) // a key needs no origin; the request is no upgrade
		})
	}
	ada.get(path, with("Origin", owner.node.URL)).want(400)
	ada.get(path, with("Origin", owner.node.URL), with("Sec-Fetch-Site", "same-origin")).want(400)
}
