package api_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/jsonapi"
)

const (
	enveloped = jsonapi.MediaType
	bare      = "application/json"
)

// forms says in which form settings travel.
var forms = []struct{ contentType, accept, form string }{
	{"", "", enveloped},
	{"", "*/*", enveloped},
	{"", "text/html", enveloped},
	{"", "application/*", enveloped},
	{"", enveloped, enveloped},
	{"", "APPLICATION/VND.API+JSON", enveloped},
	{"", bare, bare},
	{"", "Application/JSON", bare},
	{"", "application/json; charset=utf-8", bare},
	{"", "application/json, text/plain, */*", bare},
	{"", "text/plain, application/json;q=0.9", bare},
	{enveloped, "", enveloped},
	{enveloped, "*/*", enveloped},
	{enveloped, enveloped, enveloped},
	{enveloped, bare, bare},
	{enveloped + "; charset=utf-8", "", enveloped},
	{bare, "", bare},
	{bare, "*/*", bare},
	{bare, "*/*;q=0.8", bare},
	{bare, "application/*", bare},
	{bare, bare, bare},
	{bare, enveloped, enveloped},
	{"application/json;charset=utf-8", "", bare},
}

func TestSettings_Forms(t *testing.T) {
	t.Parallel()
	kinds := map[string]string{settingsPath: "account_settings", ownSettingsPath: "user_settings"}
	owner := newOwner(t, "pro")
	for path, kind := range kinds {
		t.Run(path, func(t *testing.T) {
			owner := owner.in(t)
			for _, c := range forms {
				t.Run(c.contentType+" accepting "+c.accept, func(t *testing.T) {
					owner := owner.in(t)
					body := `{"environment_order":["production"],"theme":"dark"}`
					if c.form == enveloped {
						body = `{"data":{"type":"` + kind + `","id":"current","attributes":` + body + `}}`
					}
					negotiated := []option{with("Content-Type", c.contentType), with("Accept", c.accept), offContract}
					for _, got := range []answer{owner.put(path, body, negotiated...), owner.get(path, negotiated...)} {
						got.what += " as " + c.contentType + " accepting " + c.accept
						if got.want(200); got.header.Get("Content-Type") != c.form {
							t.Errorf("%s: got %s, want %s", got.what, got.header.Get("Content-Type"), c.form)
						}
						if strings.TrimSpace(string(got.body)) != normalForm(kind, c.form) {
							t.Errorf("%s: got %s", got.what, got.body)
						}
					}
					if c.form == enveloped { // and nothing else is taken for an envelope
						owner.put(path, `{"theme":"light"}`, negotiated...).refused(400, invalid("/data"))
					}
				})
			}
		})
	}
}

func normalForm(kind, form string) string {
	const settings = `{"environment_order":["production"],"theme":"dark"}`
	if form == bare {
		return settings
	}
	return `{"data":{"id":"current","type":"` + kind + `","attributes":` + settings + `}}`
}

// TestSettings_BareRefusals: the problems of a body without an envelope point into that body.
func TestSettings_BareRefusals(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	plain := []option{with("Content-Type", bare), with("Accept", bare), offContract}
	owner.put(settingsPath, `{"stale_flags":{"unchanged_days":"x"},"environment_order":5}`, plain...).
		refused(400, invalid("/environment_order"), invalid("/stale_flags/unchanged_days"))
}

// TestSettings_TagOfEachForm: the ETag of one form is not that of the other, and a write accepts both.
func TestSettings_TagOfEachForm(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.put(settingsPath, envelope("", "", attributes{})).want(200)
	wrapped, plain := owner.get(settingsPath).want(200), owner.get(settingsPath, with("Accept", bare)).want(200)
	if vary := plain.header.Get("Vary"); !strings.Contains(vary, "Accept, Content-Type") {
		t.Errorf("the answer varies by %q", vary)
	}
	owner.get(settingsPath, with("Accept", bare), with("If-None-Match", wrapped.header.Get("ETag"))).want(200)
	owner.get(settingsPath, with("Accept", bare), with("If-None-Match", plain.header.Get("ETag"))).want(304)
	for _, each := range []answer{wrapped, plain} {
		owner.put(settingsPath, envelope("", "", attributes{}), with("If-Match", each.header.Get("ETag"))).want(200)
	}
}

// TestSettings_AcceptOverContentType: plain JSON in Content-Type
// counts only without a specific Accept.
func TestSettings_AcceptOverContentType(t *testing.T) {
	t.Parallel()
	got := newOwner(t, "pro").get(settingsPath, with("Content-Type", bare), with("Accept", "text/html")).want(200)
	if got.header.Get("Content-Type") != enveloped {
		t.Errorf("got %s, want an envelope", got.header.Get("Content-Type"))
	}
}

// members are settings beside the order, as texts; an empty back is as sent.
var members = []struct{ name, sent, back string }{
	{"numbers keep their spelling", `"a":1.0,"b":1e3,"c":-0,"d":1E+2,"e":12345678901234567890123,"f":0.10,"g":1e300`, ""},
	{"members keep their order", `"z":1,"a":{"y":2,"x":{"q":1,"b":2}},"m":[{"k":1,"c":2}]`, ""},
	{"texts keep their escapes", `"a":"\u00e4\n\/\ud83d\ude80","b":"<script>&amp;</script>","c":"ä🚀"`, ""},
	{"any name is possible", `"":1,"__proto__":{},"a.b":2,"a/b":3,"environment_orders":["x"],"data":{"attributes":1},"key\u0000":4`, ""},
	{"blanks are not kept", " \"a\" : [ 1 , 2 ] ,\n\"b\":null ", `"a":[1,2],"b":null`},
	{"every kind of value", `"t":true,"f":false,"n":null,"a":[],"o":{},"s":"","i":0`, ""},
}

func TestSettings_KeepSpelling(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	plain := []option{with("Content-Type", bare), with("Accept", bare)}
	for _, c := range members {
		t.Run(c.name, func(t *testing.T) {
			owner := owner.in(t)
			want := `{"environment_order":["staging"],` + cmp.Or(c.back, c.sent) + `}`
			for _, path := range []string{settingsPath, ownSettingsPath} {
				t.Run(path, func(t *testing.T) {
					owner := owner.in(t)
					put := owner.put(path, `{`+c.sent+`,"environment_order":["staging"]}`, plain...)
					for _, got := range []answer{put, owner.get(path, plain...)} {
						if text := strings.TrimSpace(string(got.want(200).body)); text != want {
							t.Errorf("%s, %s:\ngot  %s\nwant %s", c.name, got.what, text, want)
						}
					}
					if got := owner.get(path).want(200); !got.contains(`"attributes":` + want + "}}") {
						t.Errorf("the envelope has %s, want %s", got.body, want)
					}
				})
			}
		})
	}
}

func TestSettings_OrderDropsUnknown(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.discover("environment", "preview")
	for _, path := range []string{settingsPath, ownSettingsPath} {
		t.Run(path, func(t *testing.T) {
			owner := owner.in(t)
			for _, c := range []struct{ sent, want []string }{
				{[]string{"production", "staging"}, []string{"production", "staging"}},
				{[]string{"staging", "staging", "production", "staging"}, []string{"staging", "production"}},
				{[]string{"nowhere", "production", "Production", ""}, []string{"production"}},
				{[]string{"preview", "production"}, []string{"preview", "production"}},
				{[]string{"nowhere"}, []string{}},
				{[]string{}, []string{}},
			} {
				t.Run(fmt.Sprint(c.sent), func(t *testing.T) {
					owner := owner.in(t)
					owner.put(path, envelope("", "", attributes{"environment_order": c.sent})).want(200)
					if difference := gocmp.Diff(c.want, owner.order(path)); difference != "" {
						t.Errorf("sent %v:\n%s", c.sent, difference)
					}
				})
			}
		})
	}
}

func TestSettings_Replace(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.put(settingsPath, envelope("", "", attributes{"environment_order": []string{"production"}, "old": 1})).want(200)
	for _, body := range []attributes{{"new": 2}, {"new": 2, "environment_order": nil}} {
		t.Run(fmt.Sprint(body), func(t *testing.T) {
			got := owner.in(t).put(settingsPath, envelope("", "", body)).want(200)
			want := map[string]any{"environment_order": []any{}, "new": 2.0}
			if difference := gocmp.Diff(want, got.data().Attributes); difference != "" {
				t.Errorf("sent %v: want (-), got (+):\n%s", body, difference)
			}
		})
	}
}

func TestSettings_UserFollowsAccount(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	user, _ := owner.plantUser(accounts.Member)
	set := func(c client, path string, order any) {
		body := attributes{"theme": "dark"}
		if order != nil {
			body["environment_order"] = order
		}
		c.put(path, envelope("", "", body)).want(200)
	}
	requireOrder := func(want ...string) {
		t.Helper()
		if difference := gocmp.Diff(append([]string{}, want...), user.order(ownSettingsPath)); difference != "" {
			t.Error(difference)
		}
	}
	set(owner, settingsPath, []string{"production"})
	requireOrder("production")
	set(user, ownSettingsPath, nil) // other settings alone do not stop the following
	set(owner, settingsPath, []string{"staging"})
	requireOrder("staging")
	set(user, ownSettingsPath, []string{"production", "staging"})
	set(owner, settingsPath, []string{})
	requireOrder("production", "staging")
	set(user, ownSettingsPath, []string{}) // an empty order is an order
	set(owner, settingsPath, []string{"production"})
	requireOrder()
	set(user, ownSettingsPath, nil)
	requireOrder("production")
	// A write of one user's settings changes no other user's settings.
	if owner.get(ownSettingsPath).contains("dark") {
		t.Error("a user sees the settings of another")
	}
}
