package api_test

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/store"
)

// code makes a code for a person.
func (p person) code() string {
	p.t.Helper()
	return p.post(codesPath, "").want(201).text("code")
}

func TestCode_SignsIn(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		ada := owner.join("VIEWER", "Ada")
		browser := ada.get(sessionsPath + "/current").want(200)
		made := ada.post(codesPath, "").want(201)
		expires, err := time.Parse(time.RFC3339, made.text("expires_at"))
		if left := time.Until(expires); err != nil || left < 9*time.Minute || left > 10*time.Minute {
			t.Errorf("it expires at %s, %v", expires, err)
		}
		if made.data().ID != browser.data().ID || made.header.Get("Cache-Control") != "no-store" || made.header.Get("Etag") != "" {
			t.Errorf("got %s with %v", made.body, made.header)
		}
		typed := strings.ToLower(strings.ReplaceAll(made.text("code"), "-", " "))
		signed := owner.signIn(attributes{"code": typed}, with("User-Agent", "signalbox-cli/1.0 (laptop)")).want(201)
		if signed.text("user") != ada.id || signed.text("role") != "VIEWER" || signed.attribute("api_key") != nil ||
			signed.text("client") != "signalbox-cli/1.0 (laptop)" || signed.text("expires_at") != browser.text("expires_at") {
			t.Errorf("got %s, want a session like %s", signed.body, browser.body)
		}
		if change := owner.latest(); change.Attributes["kind"] != "session" || change.Attributes["actor"].(map[string]any)["id"] != ada.id {
			t.Errorf("the history says %v", change)
		}
		terminal := owner.with(signed.cookie().Value)
		if got := terminal.get("/api/v1/users/current").want(200); got.data().ID != ada.id {
			t.Errorf("got %s", got.body)
		}
		terminal.post(servicesPath, envelope("", unique("service"), attributes{})).refused(403, forbidden()) // the role is Ada's
		ada.delete(sessionsPath + "/" + signed.data().ID).want(204)
		terminal.get(accountPath).refused(401, unauthorized())
	})
}

func TestCode_WorksOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		code := owner.join("MEMBER", "Ada").code()
		const callers = 4 // fewer than attempts are free
		results := make(chan int, callers)
		for range callers {
			go func() { results <- owner.signIn(attributes{"code": code}).status }()
		}
		worked := 0
		for range callers {
			if status := <-results; status == 201 {
				worked++
			} else if status != 401 {
				t.Errorf("got %d", status)
			}
		}
		if worked != 1 {
			t.Errorf("the code worked %d times", worked)
		}
	})
}

// TestCode_Ends: all codes that do not work are refused alike.
func TestCode_Ends(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	ada, bob := owner.join("MEMBER", "Ada"), owner.join("MEMBER", "Bob")
	replaced, second := ada.code(), ada.code()
	signedOut := bob.code()
	bob.delete(sessionsPath + "/current").want(204)
	reset := owner.post(usersPath+"/"+ada.id+"/actions/reset_password", "").want(200).text("link")
	var bodies []string
	for _, code := range []string{replaced, signedOut, expiredCode(owner, ada), tokenOf(t, reset), randomCode()} {
		got := owner.signIn(attributes{"code": code})
		got.refused(401, unauthorized())
		bodies = append(bodies, string(got.body))
	}
	for _, body := range bodies[1:] {
		if body != bodies[0] {
			t.Errorf("refusals differ: %s and %s", bodies[0], body)
		}
	}
	owner.redeem("https://x/join?token="+strings.ReplaceAll(second, "-", ""), nil).refused(404, noLink()) // it sets no password
	owner.signIn(attributes{"code": second}).want(401)                                                    // expiredCode took its place
	owner.signIn(attributes{"code": ada.code()}).want(201)
	owner.redeem(reset, nil).want(201) // a code does not use up other links
}

// randomCode returns a code that nobody has. Wrong ones are counted, and tests share a node.
func randomCode() string {
	return strings.NewReplacer("I", "1", "L", "1", "O", "0").Replace(rand.Text()[:12])
}

// expiredCode gives a person a code that has expired.
func expiredCode(owner client, of person) string {
	code, past := randomCode(), time.Now().Add(-time.Second)
	link := accounts.Link{Hash: accounts.ParseSecret(code).Hash(), Account: owner.get(accountPath).data().ID,
		Kind: accounts.CodeLink, Subject: of.get(sessionsPath + "/current").data().ID, ExpiresAt: &past}
	plant(owner, func(ctx context.Context, tx *store.Tx) error { return tx.SaveLink(ctx, link) })
	return code
}

func TestCode_EndsWithPassword(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	ada := owner.join("MEMBER", "Ada")
	code := ada.again().code()
	ada.put(passwordPath, bareBody(attributes{"current_password": goodPassword, "password": "something new"})).want(200)
	owner.signIn(attributes{"code": code}).refused(401, unauthorized())
}

func TestCode_DelayAfterFailures(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	ada, bob := owner.join("MEMBER", "Ada"), owner.join("MEMBER", "Bob")
	code := ada.code()
	late := tooEarly(func() { owner.signIn(attributes{"code": code[:4] + "-0000-0000"}).want(401) }, func() answer {
		used := code
		code = ada.code() // for another try: it works once
		return owner.signIn(attributes{"code": used})
	})
	late.refused(429, problem{code: "rate_limited"})
	if late.header.Get("Retry-After") != "1" {
		t.Errorf("got %q", late.header.Get("Retry-After"))
	}
	owner.signIn(attributes{"code": bob.code()}).want(201) // others are not held up
}

func TestCode_ForPeople(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	ofKey := owner.with(owner.signIn(attributes{"api_key": owner.key}).want(201).cookie().Value)
	ofKey.post(codesPath, "").refused(403, forbidden())
	owner.post(codesPath, "").refused(404, problem{code: "not_found"})
	ada := owner.join("VIEWER", "Ada")
	ada.post(codesPath, "", with("Origin", "https://evil.example"), with("Sec-Fetch-Site", "cross-site")).refused(403, forbidden())
	ada.post(codesPath, "[]").refused(400, problem{code: "validation_error", source: "pointer "})
	code := ada.code()
	owner.signIn(attributes{"code": code}, with("Origin", "https://evil.example")).refused(403, forbidden())
	owner.signIn(attributes{"code": code, "email": ada.email, "api_key": owner.key}).refused(400, invalid("/email"), invalid("/api_key"))
	owner.signIn(attributes{"code": 5}).refused(400, invalid("/code"), invalid("/email"), invalid("/password"))
	owner.signIn(attributes{"code": code}).want(201) // nothing of this used it up
}
