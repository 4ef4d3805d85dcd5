package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func unauthorized() problem { return problem{code: "unauthorized"} }

func TestSession_SignInAndOut(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		ada := owner.join("ADMIN", "Ada")
		signed := owner.signIn(attributes{"email": strings.ToUpper(ada.email), "password": goodPassword}, with("User-Agent", "Browser/1.0")).want(201)
		cookie := signed.cookie()
		owner.as("").get(accountPath, with("Cookie", "__Host-signalbox_session="+cookie.Value)).refused(401, unauthorized())
		if cookie.Name != "signalbox_session" || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Secure || cookie.Path != "/" || len(cookie.Value) != 43 {
			t.Errorf("got the cookie %v", cookie)
		}
		if signed.text("user") != ada.id || signed.attribute("api_key") != nil || signed.text("role") != "ADMIN" || signed.text("client") != "Browser/1.0" {
			t.Errorf("got %s", signed.body)
		}
		expires, err := time.Parse(time.RFC3339, signed.text("expires_at"))
		if err != nil || time.Until(expires).Round(time.Hour) != 7*24*time.Hour || !cookie.Expires.Equal(expires.Truncate(time.Second)) {
			t.Errorf("it expires at %s, the cookie at %s, %v", expires, cookie.Expires, err)
		}
		if signed.contains(cookie.Value) || signed.header.Get("Cache-Control") != "no-store" {
			t.Errorf("the token is in the answer, or may be kept: %s", signed.body)
		}
		session := owner.with(cookie.Value)
		if got := session.get("/api/v1/users/current").want(200); got.data().ID != ada.id || got.header.Get("Cache-Control") != "private, no-cache" {
			t.Errorf("got %s", got.body)
		}
		if current := session.get(sessionsPath + "/current").want(200); current.data().ID != signed.data().ID {
			t.Errorf("got %s", current.body)
		}
		out := session.delete(sessionsPath + "/current").want(204)
		if out.cookie().MaxAge != -1 {
			t.Errorf("got the cookie %v", out.cookie())
		}
		session.get(accountPath).refused(401, unauthorized())
		ada.get(accountPath).want(200)
	})
}

// TestSession_SameRefusal: the answer does not reveal whether somebody has an account.
func TestSession_SameRefusal(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	ada := owner.join("ADMIN", "Ada")
	wrong := owner.signIn(attributes{"email": ada.email, "password": "wrong"})
	wrong.refused(401, unauthorized())
	unknown := owner.signIn(attributes{"email": unique("nobody") + "@example.com", "password": "wrong"})
	unknown.refused(401, unauthorized())
	placeholder := owner.signIn(attributes{"email": "owner@" + owner.accountKey(), "password": ""})
	if string(wrong.body) != string(unknown.body) || string(placeholder.body) != string(unknown.body) {
		t.Errorf("%s, %s, %s", wrong.body, unknown.body, placeholder.body)
	}
	if wrong.header.Get("Set-Cookie") != "" {
		t.Error("a refusal sets a cookie")
	}
	for text, problems := range map[string][]problem{
		`{}`:                        {invalid("/email"), invalid("/password")},
		`{"email":5,"password":[]}`: {invalid("/email"), invalid("/password")},
		`{"api_key":"k","email":"a@b","password":"x"}`:                 {invalid("/api_key")},
		`{"data":{"type":"user","attributes":{"api_key":"sk_api_x"}}}`: {invalid("/data/type")},
	} {
		t.Run(text, func(t *testing.T) { owner.in(t).as("").post(sessionsPath, text).refused(400, problems...) })
	}
	owner.as("").post(sessionsPath, `{"email":"`+strings.Repeat("x", 70<<10)+`"}`).refused(413, problem{code: "payload_too_large"})
	owner.signIn(attributes{"api_key": "sk_api_nobody"}).refused(401, unauthorized())
	owner.as("").post(sessionsPath, envelope("session", "", attributes{"email": ada.email, "password": goodPassword})).want(201)
}

// tooEarly fails five times and returns the answer to the attempt that follows within a second. On
// a machine that was slower it tries again.
func tooEarly(fail func(), attempt func() answer) answer {
	for {
		for range 4 {
			fail()
		}
		began := time.Now() // the delay begins later
		fail()
		if got := attempt(); got.status == 429 || time.Since(began) < time.Second {
			return got
		}
	}
}

func TestSession_DelayAfterFailures(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	ada, bob := owner.join("ADMIN", "Ada"), owner.join("ADMIN", "Bob")
	late := tooEarly(func() { owner.signIn(attributes{"email": ada.email, "password": "wrong"}).want(401) },
		func() answer {
			return owner.signIn(attributes{"email": strings.ToUpper(ada.email), "password": goodPassword})
		})
	late.refused(429, problem{code: "rate_limited"})
	if late.header.Get("Retry-After") != "1" {
		t.Errorf("got %q", late.header.Get("Retry-After"))
	}
	owner.signIn(attributes{"email": bob.email, "password": goodPassword}).want(201)
	ada.get(accountPath).want(200) // her sessions go on
	eventually(t, patience, "the right password works after the delay", func() bool {
		return owner.signIn(attributes{"email": ada.email, "password": goodPassword}).status == 201
	})
	owner.signIn(attributes{"email": ada.email, "password": "wrong"}).want(401) // the count began anew
}

func TestSession_KeyWins(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	ada := owner.join("VIEWER", "Ada")
	both := ada.client
	both.key = owner.key
	both.post(servicesPath, envelope("", unique("service"), attributes{})).want(201)
	if actor := owner.latest().Attributes["actor"].(map[string]any); actor["type"] != "api_key" {
		t.Errorf("got %v", actor)
	}
	both.key = "sk_api_wrong"
	both.get(accountPath).refused(401, unauthorized())
	ada.get(accountPath, with("Authorization", "Basic x")).refused(401, unauthorized())
	ada.get(accountPath).want(200)
}

// TestSession_OfKey: a session is never more than the key that it was made with.
func TestSession_OfKey(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		key := owner.makeKey(attributes{"role": "MEMBER", "name": "the key", "scopes": attributes{"environments": []string{"production"}}})
		signed := owner.signIn(attributes{"api_key": key.secret}).want(201)
		if signed.text("api_key") != key.id || signed.text("role") != "MEMBER" || signed.text("user") != owner.get("/api/v1/users/current").data().ID {
			t.Errorf("got %s", signed.body)
		}
		session := owner.with(signed.cookie().Value)
		session.put(passwordPath, bareBody(attributes{"current_password": "x", "password": goodPassword})).refused(403, forbidden())
		flag := aFlag(owner)
		session.delete(flag).refused(403, forbidden()) // its scope
		owner.put(key.path, bareBody(attributes{"data": attributes{"attributes": attributes{"name": "the key", "scopes": nil}}})).want(200)
		session.delete(flag).want(204)
		if actor := owner.latest().Attributes["actor"].(map[string]any); actor["type"] != "api_key" || actor["id"] != key.id {
			t.Errorf("got %v", actor)
		}
		owner.put(key.path, envelope("", "", attributes{"name": "the key", "role": "VIEWER"})).want(200)
		session.delete(flag).refused(403, forbidden()) // its role
		owner.post(key.path+"/actions/revoke", "").want(200)
		session.get(accountPath).refused(401, unauthorized()) // its end
		owner.signIn(attributes{"api_key": key.secret}).refused(401, unauthorized())

		evaluates := owner.makeKey(attributes{"access": "evaluate", "scopes": attributes{"environments": []string{"production"}}})
		owner.signIn(attributes{"api_key": evaluates.secret}).refused(403, forbidden())

		soon := time.Now().Add(time.Hour)
		ends := owner.makeKey(attributes{"expires_at": soon.UTC().Format(time.RFC3339)})
		if got := owner.signIn(attributes{"api_key": ends.secret}).want(201).text("expires_at"); got != soon.UTC().Format(time.RFC3339) {
			t.Errorf("it expires at %s, the key at %s", got, soon)
		}
	})
}

func TestSession_ListsAndEnds(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		ada, bob, boss := owner.join("MEMBER", "Ada"), owner.join("ADMIN", "Bob"), owner.join("OWNER", "Boss")
		second := ada.again()
		id := func(p person) string { return p.get(sessionsPath + "/current").want(200).data().ID }
		if ids := ada.get(sessionsPath).want(200).ids(); len(ids) != 2 {
			t.Errorf("got %v", ids)
		}
		requireSame(t, bob.get(sessionsPath+"?filter[user]="+ada.id).want(200).ids(), []string{id(second), id(ada)})
		ada.get(sessionsPath+"?filter[user]="+bob.id).refused(403, forbidden())
		requireSame(t, ada.get(sessionsPath+"?filter[user]="+ada.id).want(200).ids(), []string{id(second), id(ada)})
		requireSame(t, owner.get(sessionsPath).want(200).ids(), []string{}) // those of the key
		scoped := owner.as(owner.makeKey(attributes{"role": "OWNER", "scopes": attributes{"environments": []string{"production"}}}).secret)
		scoped.get(sessionsPath+"?filter[user]="+ada.id).refused(403, forbidden())

		ada.delete(sessionsPath+"/"+id(bob)).refused(404, problem{code: "not_found"})
		bob.delete(sessionsPath+"/"+id(boss)).refused(403, forbidden())
		ada.delete(sessionsPath + "/" + id(second)).want(204)
		second.get(accountPath).refused(401, unauthorized())
		bob.delete(sessionsPath + "/" + id(ada)).want(204)
		ada.get(accountPath).refused(401, unauthorized())
		if change := owner.latest(); change.Attributes["kind"] != "session" || change.Attributes["action"] != "deleted" {
			t.Errorf("the history says %v", change)
		}
	})
}

// TestSession_KeyOpensTooMany: each session is in the history, whose older content makes room for newer.
func TestSession_KeyOpensTooMany(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	key := owner.makeKey(attributes{"role": "VIEWER"})
	for opened := 0; ; opened++ {
		got := owner.signIn(attributes{"api_key": key.secret})
		if got.status == 201 && opened < 1000 {
			continue
		}
		got.refused(429, problem{code: "rate_limited"})
		if opened < 300 || got.header.Get("Retry-After") == "" {
			t.Errorf("refused after %d sessions with %v", opened, got.header)
		}
		return
	}
}

func TestSession_PasswordChangeEndsOthers(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		ada := owner.join("VIEWER", "Ada")
		other, link := ada.again(), owner.post(usersPath+"/"+ada.id+"/actions/reset_password", "").want(200).text("link")
		ada.put(passwordPath, bareBody(attributes{"current_password": "wrong", "password": "something new"})).refused(403, problem{code: "forbidden", source: "pointer /current_password"})
		ada.put(passwordPath, bareBody(attributes{"password": "short"})).refused(400, invalid("/current_password"), invalid("/password"))
		changed := ada.put(passwordPath, bareBody(attributes{"current_password": goodPassword, "password": "something new"})).want(200)
		if changed.data().ID != ada.id {
			t.Errorf("got %s", changed.body)
		}
		other.get(accountPath).refused(401, unauthorized())
		ada.get(accountPath).want(200)
		owner.redeem(link, nil).refused(404, noLink())
		owner.signIn(attributes{"email": ada.email, "password": goodPassword}).want(401)
		owner.signIn(attributes{"email": ada.email, "password": "something new"}).want(201)
		tooEarly(func() {
			ada.put(passwordPath, bareBody(attributes{"current_password": "wrong", "password": "something new"})).want(403)
		}, func() answer {
			return ada.put(passwordPath, bareBody(attributes{"current_password": "something new", "password": "something new"}))
		}).refused(429, problem{code: "rate_limited"})
	})
}

func TestPeople_IfMatch(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	ada := owner.join("MEMBER", "Ada")
	mismatch := problem{code: "version_mismatch"}
	password := bareBody(attributes{"current_password": goodPassword, "password": goodPassword + "!"})
	ada.put(passwordPath, password, with("If-Match", `"other"`)).refused(412, mismatch)
	ada.put(passwordPath, password, with("If-Match", ada.get("/api/v1/users/current").header.Get("Etag"))).want(200)
	invitation := anInvitation(owner)
	owner.delete(invitation, with("If-Match", `"other"`)).refused(412, mismatch)
	owner.delete(invitation, with("If-Match", owner.get(invitation).header.Get("Etag"))).want(204)
	tag := ada.get(sessionsPath + "/current").want(200).header.Get("Etag")
	path := sessionsPath + "/" + ada.get(sessionsPath+"/current").data().ID
	ada.delete(path, with("If-Match", `"other"`)).refused(412, mismatch)
	ada.delete(sessionsPath+"/current", with("If-Match", `"other"`)).refused(412, mismatch)
	owner.delete(path, with("If-Match", tag)).want(204)
}

func TestSession_Expires(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(_ *testing.T, owner client) {
		ada := owner.join("VIEWER", "Ada")
		account := owner.get(accountPath).data().ID
		plantSession := func(used, expires time.Time) client {
			token := unique("planted-session")
			plant(owner, func(ctx context.Context, tx *store.Tx) error {
				return tx.InsertSession(ctx, accounts.Session{ID: unique("s"), Account: account, User: ada.id,
					Hash: accounts.ParseSecret(token).Hash(), CreatedAt: used, LastUsedAt: used, ExpiresAt: expires})
			})
			return owner.with(token)
		}
		now := time.Now()
		plantSession(now.Add(-12*time.Hour+time.Minute), now.Add(time.Hour)).get(accountPath).want(200)
		plantSession(now.Add(-12*time.Hour-time.Second), now.Add(time.Hour)).get(accountPath).refused(401, unauthorized())
		plantSession(now, now.Add(-time.Second)).get(accountPath).refused(401, unauthorized())
	})
}

// TestSession_UseIsKept: a session that is used does not become idle, and no request
// waits for that.
func TestSession_UseIsKept(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		ada := owner.join("VIEWER", "Ada")
		created := ada.get(sessionsPath + "/current").want(200).text("created_at")
		eventually(t, patience, "the use is stored", func() bool {
			return ada.get(sessionsPath+"/current").want(200).text("last_used_at") > created
		})
	})
}

func TestSession_Secure(t *testing.T) {
	t.Parallel()
	owner := start(t, storetest.New(t, "sqlite"), func(s *settings.Settings) { s.PublicURL = "https://box.example" })
	invited := owner.invite("ada@example.com", "VIEWER").want(201).text("link")
	if !strings.HasPrefix(invited, "https://box.example/join?token=") {
		t.Errorf("got %s", invited)
	}
	joined := owner.redeem(invited, nil).want(201)
	if cookie := joined.cookie(); !cookie.Secure || cookie.Name != "__Host-signalbox_session" || cookie.Path != "/" || cookie.Domain != "" {
		t.Errorf("got %v", cookie)
	}
	planted := owner.as("").get(accountPath, with("Cookie", "signalbox_session="+joined.cookie().Value))
	planted.refused(401, unauthorized()) // any page of the domain may set this one
	ada := owner.with(joined.cookie().Value)
	settings := envelope("", "", attributes{})
	ada.put(ownSettingsPath, settings, with("Origin", "https://box.example"), with("Sec-Fetch-Site", "cross-site")).want(403) // VIEWER
	ada.delete(sessionsPath+"/current", with("Origin", "https://box.example.evil.example")).refused(403, forbidden())
	ada.delete(sessionsPath+"/current", with("Origin", "https://box.example")).want(204)
}

func TestSession_OtherNodes(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	here, there := start(t, database), start(t, database)
	for range 10 {
		ada := here.join("ADMIN", "Ada")
		elsewhere := there.with(ada.session)
		elsewhere.get(accountPath).want(200)
		here.put(usersPath+"/"+ada.id, bareBody(attributes{"name": "Ada", "role": "VIEWER"})).want(200)
		elsewhere.get(usersPath).refused(403, forbidden())
		second := ada.again()
		there.with(second.session).get(accountPath).want(200)
		second.delete(sessionsPath + "/current").want(204)
		there.with(second.session).get(accountPath).refused(401, unauthorized())
		here.delete(usersPath + "/" + ada.id).want(204)
		elsewhere.get(accountPath).refused(401, unauthorized())
	}
}

// TestSession_SeesEveryChange: a cached answer is never older than the last change.
func TestSession_SeesEveryChange(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		ada := owner.join("MEMBER", "Ada")
		for range 5 {
			path := anEnvironment(owner)
			for _, name := range []string{"One", "Two"} {
				owner.put(path, envelope("", "", attributes{"name": name})).want(200)
				if got := ada.get(path).want(200).text("name"); got != name {
					t.Errorf("got %q, want %q", got, name)
				}
			}
		}
	})
}
