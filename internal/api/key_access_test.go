package api_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const shop = "https://shop.example"

// evaluator returns a client whose key may only evaluate in production.
func (c client) evaluator(origins ...string) client {
	c.t.Helper()
	scopes := attributes{"environments": []string{"production"}}
	if origins != nil {
		scopes["origins"] = origins
	}
	return c.as(c.makeKey(attributes{"role": "OWNER", "access": "evaluate", "scopes": scopes}).secret)
}

// readableBy returns the origin whose pages may read the answer.
func (a answer) readableBy() string { return a.header.Get("Access-Control-Allow-Origin") }

// TestKeyAccess_EveryRoute: whatever its role, a key that evaluates may call OFREP,
// load the flags for flagd's providers, and call routes without a key. Web pages may read only its answers, preflights and 401s.
func TestKeyAccess_EveryRoute(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	evaluator := owner.evaluator()
	for _, row := range accessTable() {
		t.Run(row.route, func(t *testing.T) {
			t.Parallel()
			path, body := row.target(owner.in(t))
			method, _, _ := strings.Cut(row.route, " ")
			isOFREP, noKey := strings.HasPrefix(path, "/ofrep/"), strings.Fields(row.want)[0]
			want, readable := "403", ""
			opensSession := noKey == "201" // pages of other origins may not
			switch {
			case opensSession:
			case noKey != "401":
				want = noKey
			case path == "/ofrep/v1/events": // only the token of a stream opens it
				want = "401"
			case isOFREP, strings.HasPrefix(path, flagdPath):
				want = "200"
			}
			if isOFREP {
				readable = "*"
			}
			got := evaluator.in(t).send(method, path, body, with("Origin", shop))
			if strconv.Itoa(got.status) != want || got.readableBy() != readable {
				t.Errorf("got %d for pages of %q, want %s for %q: %s", got.status, got.readableBy(), want, readable, got.body)
			}
			if want == "403" && !opensSession && !got.contains("may only evaluate flags") {
				t.Errorf("got %s", got.body)
			}
			if full := owner.in(t).send(method, path, body, with("Origin", shop), inProduction(path)); full.readableBy() != "" && method != "OPTIONS" && full.status != 401 {
				t.Errorf("pages may read what a key with full access gets: %v", full.header)
			}
		})
	}
}

func TestKeyAccess_Origins(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeFlag("made", nil)
	anywhere, restricted := owner.evaluator(), owner.evaluator("HTTPS://Shop.Example:443", "http://localhost:3000", shop)
	for _, c := range []struct {
		name   string
		client client
		origin string
		want   string
	}{
		{"any, from no page", anywhere, "", ""}, {"any, from a page", anywhere, shop, "*"}, {"any, from null", anywhere, "null", "*"},
		{"some, from no page", restricted, "", ""}, {"some, from the first", restricted, shop, shop},
		{"some, from the last", restricted, "http://localhost:3000", "http://localhost:3000"}, {"some, from another scheme", restricted, "http://shop.example", ""},
		{"some, from a longer name", restricted, "https://shop.example.evil.example", ""}, {"some, from null", restricted, "null", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			key, origin := c.client.in(t), with("Origin", c.origin)
			for _, got := range []answer{
				key.ofrep("made", `{}`, origin).want(200),
				key.ofrep("", `{}`, origin).want(200),
				key.ofrep("nowhere", `{}`, origin).want(404),
				key.ofrep("made", `{`, origin).want(400),
				key.ofrep("made", `{}`, origin, with("X-Signalbox-Environment", "staging")).want(403),
			} {
				if got.readableBy() != c.want || (got.header.Get("Access-Control-Expose-Headers") != "") != (c.want != "") {
					t.Errorf("%s: got %v, want %q", got.what, got.header, c.want)
				}
				if varies := strings.Contains(got.header.Get("Vary"), "Origin"); varies != (key.key == restricted.key) {
					t.Errorf("%s varies by origin: %v", got.what, varies)
				}
			}
		})
	}
	if got := owner.ofrep("made", `{}`, with("Origin", shop)).want(200); got.readableBy() != "" {
		t.Errorf("got %v", got.header)
	}
}

func TestKeyAccess_Rules(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	one, two := []string{"production"}, []string{"production", "staging"}
	scoped := func(environments []string, origins ...string) attributes {
		scopes := attributes{"environments": environments}
		if origins != nil {
			scopes["origins"] = origins
		}
		return scopes
	}
	const environments, origins = "/data/attributes/scopes/environments", "/data/attributes/scopes/origins"
	for name, c := range map[string]struct {
		key  attributes
		want string // the pointer of the refusal
	}{
		"full is the default":            {attributes{}, ""},
		"any case":                       {attributes{"access": "Evaluate", "scopes": scoped(one)}, ""},
		"an unknown access":              {attributes{"access": "read"}, "/data/attributes/access"},
		"evaluate without environments":  {attributes{"access": "evaluate"}, environments},
		"evaluate with two environments": {attributes{"access": "evaluate", "scopes": scoped(two)}, environments},
		"one environment twice":          {attributes{"access": "evaluate", "scopes": scoped([]string{"production", "production"})}, ""},
		"levels":                         {attributes{"access": "levels", "scopes": scoped(one)}, ""},
		"levels without environments":    {attributes{"access": "levels"}, environments},
		"levels with two environments":   {attributes{"access": "levels", "scopes": scoped(two)}, environments},
		"levels with an origin":          {attributes{"access": "levels", "scopes": scoped(one, shop)}, origins},
		"an origin":                      {attributes{"access": "evaluate", "scopes": scoped(one, "https://shop.example:8443")}, ""},
		"an app's origin":                {attributes{"access": "evaluate", "scopes": scoped(one, "capacitor://localhost")}, ""},
		"an origin of a full key":        {attributes{"scopes": scoped(one, shop)}, origins},
		"a path":                         {attributes{"access": "evaluate", "scopes": scoped(one, shop+"/")}, origins},
		"a wildcard":                     {attributes{"access": "evaluate", "scopes": scoped(one, "https://*.example")}, origins},
		"any origin by a star":           {attributes{"access": "evaluate", "scopes": scoped(one, "*")}, origins},
		"a host":                         {attributes{"access": "evaluate", "scopes": scoped(one, "shop.example")}, origins},
		"an origin with a user":          {attributes{"access": "evaluate", "scopes": scoped(one, "https://me@shop.example")}, origins},
		"an origin in other letters":     {attributes{"access": "evaluate", "scopes": scoped(one, "https://żółw.example")}, origins},
	} {
		t.Run(name, func(t *testing.T) {
			c.key["name"] = name
			got := owner.in(t).post(keysPath, envelope("", "", c.key), func(r *request) { r.offContract = c.want != "" })
			got.what += " " + name
			if c.want == "" {
				got.want(201)
			} else {
				got.refused(400, invalid(c.want))
			}
		})
	}
	empty := attributes{"environments": one, "origins": []string{}}
	owner.post(keysPath, envelope("", "", attributes{"name": "n", "access": "evaluate", "scopes": empty}), offContract).refused(400, invalid(origins))
	if got := owner.get(aKey(owner)).want(200).text("access"); got != "full" {
		t.Errorf("a new key has the access %q", got)
	}
}

// TestKeyAccess_Replace: a write keeps the members that it leaves out, so that a rename does not
// widen a key, and the resulting members must be valid together.
func TestKeyAccess_Replace(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	scopes := map[string]any{"environments": []any{"production"}, "origins": []any{shop}}
	key := owner.makeKey(attributes{"access": "evaluate", "scopes": scopes})
	put := func(sent attributes) answer {
		sent["name"] = "n"
		return owner.put(key.path, envelope("", "", sent))
	}
	if got := put(attributes{}).want(200); got.text("access") != "evaluate" || cmp.Diff(scopes, got.attribute("scopes")) != "" {
		t.Errorf("a rename made it %s", got.body)
	}
	put(attributes{"scopes": nil}).refused(400, invalid("/data/attributes/scopes/environments"))
	put(attributes{"access": "full"}).refused(400, invalid("/data/attributes/scopes/origins"))
	owner.as(key.secret).get(accountPath).refused(403, problem{code: "forbidden"})
	put(attributes{"access": "full", "scopes": nil}).want(200)
	owner.as(key.secret).get(accountPath).want(200)
	put(attributes{"access": "evaluate", "scopes": attributes{"environments": []string{"staging"}}}).want(200)
	owner.as(key.secret).get(accountPath).refused(403, problem{code: "forbidden"})
	owner.as(key.secret).ofrep("", `{}`, with("X-Signalbox-Environment", "")).want(200)
	owner.as(key.secret).ofrep("", `{}`).want(403)
}
