package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/app"
)

func lastOwner() problem { return problem{code: "last_owner"} }

func forbidden() problem { return problem{code: "forbidden"} }

func TestUser_NobodyAboveTheirOwnRole(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	admin, boss := owner.join("ADMIN", "Admin"), owner.join("OWNER", "Boss")
	path := usersPath + "/" + boss.id
	renamed := envelope("", "", attributes{"name": "Renamed"})
	admin.get(path).want(200)
	admin.put(path, renamed).refused(403, forbidden())
	admin.delete(path).refused(403, forbidden())
	admin.post(path+"/actions/reset_password", "").refused(403, forbidden())
	member := owner.join("MEMBER", "Member")
	admin.put(usersPath+"/"+member.id, bareBody(attributes{"name": "M", "role": "OWNER"})).refused(403, problem{code: "forbidden", source: "pointer /role"})
	admin.put(usersPath+"/"+member.id, bareBody(attributes{"name": "M", "role": "admin"})).want(200)
	admin.invite(unique("o")+"@example.com", "OWNER").refused(403, problem{code: "forbidden", source: "pointer /role"})
	invited := owner.invite(unique("o")+"@example.com", "OWNER").want(201)
	admin.delete(invitationsPath+"/"+invited.data().ID).refused(403, problem{code: "forbidden"})
	if got := owner.get(usersPath + "/" + boss.id).want(200); got.text("name") != "Boss" || got.text("role") != "OWNER" {
		t.Errorf("a refused write left something: %s", got.body)
	}
}

func TestUser_LastOwnerStays(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		first := usersPath + "/" + owner.get("/api/v1/users/current").want(200).data().ID
		demoted := func(name string) string { return bareBody(attributes{"name": name, "role": "ADMIN"}) }
		owner.put(first, demoted("Owner")).refused(409, lastOwner())
		owner.delete(first).refused(409, lastOwner())
		// The OWNER who cannot sign in may be demoted while one who can remains, but not the other
		// way.
		ada := owner.join("OWNER", "Ada")
		ada.delete(usersPath+"/"+ada.id).refused(409, lastOwner())
		ada.put(usersPath+"/"+ada.id, demoted("Ada")).refused(409, lastOwner())
		owner.put(first, demoted("Owner")).want(200)
		bob := ada.join("OWNER", "Bob")
		// Two at once: one of them stays.
		results := make(chan int, 2)
		for _, each := range []person{ada, bob} {
			go func() { results <- each.put(usersPath+"/"+each.id, demoted("Gone")).status }()
		}
		if one, two := <-results, <-results; one+two != 200+409 {
			t.Errorf("got %d and %d, want one refusal", one, two)
		}
	})
}

func TestUser_AddressesAreUnique(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(_ *testing.T, owner client) {
		ada := owner.join("ADMIN", "Ada")
		elsewhere := owner.account("pro")
		inUse := problem{code: "already_exists", source: "pointer /email"}
		for _, c := range []client{owner, elsewhere} {
			c.invite(strings.ToUpper(ada.email), "VIEWER").refused(409, inUse)
		}
		bob := elsewhere.join("ADMIN", "Bob")
		bob.put(usersPath+"/"+bob.id, bareBody(attributes{"name": "Bob", "email": strings.ToUpper(ada.email)})).refused(409, inUse)
		// Two accounts may invite somebody new; the first link that is used wins.
		email := unique("new") + "@example.com"
		here, there := owner.invite(email, "VIEWER").want(201).text("link"), elsewhere.invite(email, "VIEWER").want(201).text("link")
		owner.redeem(here, nil).want(201)
		owner.redeem(there, nil).refused(409, problem{code: "already_exists", source: "pointer /email"})
		elsewhere.invite(unique("x")+"@example.com", "VIEWER").want(201)
	})
}

func TestUser_InvalidInput(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := aUser(owner)
	for text, pointers := range map[string][]string{
		`{}`:                            {"/name"},
		`{"name":""}`:                   {"/name"},
		`{"name":5,"role":5,"email":5}`: {"/name", "/role", "/email"},
		`{"name":"N","role":"KING"}`:    {"/role"},
		`{"name":"N","email":"nobody"}`: {"/email"},
		`{"name":"N","email":"a@b@c"}`:  {"/email"},
		`{"name":"N","email":"a b@c"}`:  {"/email"},
		`{"name":"N","email":"@c"}`:     {"/email"},
		`{"data":{"attributes":{}}}`:    {"/data/attributes/name"},
		`{"data":{"attributes":{"name":"N","email":"` + strings.Repeat("x", 250) + `@example.com"}}}`: {"/data/attributes/email"},
	} {
		t.Run(fmt.Sprintf("%.40q", text), func(t *testing.T) {
			var problems []problem
			for _, pointer := range pointers {
				problems = append(problems, invalid(pointer))
			}
			owner.in(t).put(path, text).refused(400, problems...)
		})
	}
	for text, pointer := range map[string]string{`{}`: "/email", `{"email":"x"}`: "/email", `{"email":"a@b.c","role":"KING"}`: "/role", `[]`: ""} {
		t.Run(text, func(t *testing.T) { owner.in(t).post(invitationsPath, text).refused(400, invalid(pointer)) })
	}
	got := owner.put(path, envelope("user", "", attributes{"name": "N", "email": "New-" + unique("x") + "@Example.com", "role": "member"})).want(200)
	if got.text("role") != "MEMBER" || !strings.HasPrefix(got.text("email"), "New-") || got.attribute("can_sign_in") != true {
		t.Errorf("got %s", got.body)
	}
}

func TestUser_FirstOwnerHasNoAddress(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	first := owner.get("/api/v1/users/current").want(200)
	if first.attribute("can_sign_in") != false {
		t.Errorf("got %s", first.body)
	}
	path := usersPath + "/" + first.data().ID
	owner.post(path+"/actions/reset_password", "").refused(400, problem{code: "validation_error"})
	// Sending back a read document changes no address; sending another address does.
	owner.put(path, bareBody(attributes{"name": "Owner", "email": first.text("email")})).want(200)
	owner.post(path+"/actions/reset_password", "").want(400)
	owner.put(path, bareBody(attributes{"name": "Owner", "email": unique("owner") + "@example.com"})).want(200)
	link := owner.post(path+"/actions/reset_password", "").want(200).text("link")
	joined := owner.redeem(link, nil).want(201)
	if owner.with(joined.cookie().Value).get("/api/v1/users/current").want(200).data().ID != first.data().ID {
		t.Error("the link is of somebody else")
	}
}

// A role or a deletion counts on the next request, like that of a key.
func TestUser_ChangeCountsAtOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(_ *testing.T, owner client) {
		ada := owner.join("MEMBER", "Ada")
		create := func() answer { return ada.post(servicesPath, envelope("", unique("service"), attributes{})) }
		for range 5 {
			create().want(201)
			owner.put(usersPath+"/"+ada.id, bareBody(attributes{"name": "Ada", "role": "VIEWER"})).want(200)
			create().refused(403, forbidden())
			owner.put(usersPath+"/"+ada.id, bareBody(attributes{"name": "Ada", "role": "MEMBER"})).want(200)
		}
		owner.delete(usersPath + "/" + ada.id).want(204)
		create().refused(401, problem{code: "unauthorized"})
		owner.signIn(attributes{"email": ada.email, "password": goodPassword}).want(401)
	})
}

func TestUser_HistoryNamesThePerson(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	ada := owner.join("MEMBER", "Ada Lovelace")
	ada.post(servicesPath, envelope("", unique("service"), attributes{})).want(201)
	actor := owner.latest().Attributes["actor"].(map[string]any)
	if actor["type"] != "user" || actor["id"] != ada.id || actor["name"] != "Ada Lovelace" {
		t.Errorf("got %v", actor)
	}
	if found := owner.get(changesPath + "?filter[actor]=" + ada.id).want(200).page().Data; len(found) != 4 { // joined: user, invitation, session
		t.Errorf("got %d changes", len(found))
	}
	for _, secret := range []string{goodPassword, "argon2", ada.session} {
		if owner.get(changesPath + "?page[size]=1000").want(200).contains(secret) {
			t.Errorf("the history shows %s", secret)
		}
	}
}

func TestUser_KeysOfDeletedUserStay(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	ada := owner.join("ADMIN", "Ada")
	key := owner.as(ada.makeKey(nil).secret)
	owner.delete(usersPath + "/" + ada.id).want(204)
	key.get(accountPath).want(200)
	key.get("/api/v1/users/current").refused(404, problem{code: "not_found"})
	key.get(ownSettingsPath).refused(404, problem{code: "not_found"})
	key.put(ownSettingsPath, envelope("", "", attributes{"theme": "dark"})).refused(404, problem{code: "not_found"})
}

// TestUser_OwnerKeyOutlivesItsMaker: the key of the first start keeps working when its creator, the user without an
// address, is deleted. It then acts as the oldest OWNER.
func TestUser_OwnerKeyOutlivesItsMaker(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		placeholder := owner.get("/api/v1/users/current").want(200).data().ID
		owner.put(ownSettingsPath, envelope("", "", attributes{"theme": "of nobody else"})).want(200)
		private := owner.lastOf("user_settings:" + placeholder)
		ada, bob := owner.join("OWNER", "Ada"), owner.join("OWNER", "Bob")
		owner.delete(usersPath + "/" + placeholder).want(204)
		session := owner.with(owner.signIn(attributes{"api_key": owner.key}).want(201).cookie().Value)
		for name, c := range map[string]client{"key": owner, "session of the key": session} {
			t.Run(name, func(t *testing.T) {
				c := c.in(t)
				owner := owner.in(t)
				if got := c.get("/api/v1/users/current").want(200); got.data().ID != ada.id {
					t.Errorf("got %s, want %s", got.body, ada.id)
				}
				sent := envelope("", "", attributes{"theme": name, "environment_order": []string{"production"}})
				c.put(ownSettingsPath, sent, with("Origin", owner.node.URL), with("Sec-Fetch-Site", "same-origin")).want(200)
				if got := c.get(ownSettingsPath).want(200); got.text("theme") != name || len(c.order(ownSettingsPath)) != 1 {
					t.Errorf("got %s", got.body)
				}
				if change := owner.latest(); change.Attributes["kind"] != "user_settings" || change.Attributes["key"] != ada.id {
					t.Errorf("recorded %v", change)
				}
				if got := ada.in(t).get(ownSettingsPath).want(200); got.text("theme") != name {
					t.Errorf("the OWNER has %s", got.body)
				}
			})
		}
		if got := bob.get(ownSettingsPath).want(200); got.contains("theme") {
			t.Errorf("another OWNER has %s", got.body)
		}
		owner.post(private+"/actions/revert?force=true", "").refused(403, problem{code: "forbidden"})
		if got := ada.get(ownSettingsPath).want(200); got.contains("of nobody else") {
			t.Errorf("the settings of a deleted user were written over %s", got.body)
		}
		if made := owner.makeKey(attributes{"role": "OWNER"}); owner.as(made.secret).get("/api/v1/users/current").want(200).data().ID != ada.id {
			t.Error("a key that the key made stands for nobody")
		}
	})
}

func TestUser_OperatorHelps(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		ada, account := owner.join("OWNER", "Ada"), owner.accountKey()
		var link string
		operate(t, owner.node, func(operator *app.Operator) error {
			if _, err := operator.SetupLink(t.Context(), account); err == nil {
				t.Error("there is a set-up link although an OWNER can sign in")
			}
			if users, err := operator.Users(t.Context(), account); err != nil || len(users) != 2 {
				t.Errorf("got %v, %v", users, err)
			}
			if _, err := operator.SetRole(t.Context(), ada.email, "VIEWER"); err == nil {
				t.Error("the last OWNER lost the role")
			}
			_, made, err := operator.ResetPassword(t.Context(), strings.ToUpper(ada.email))
			link = made
			return err
		})
		ada.get(accountPath).want(200) // until the link is used
		joined := owner.redeem(link, attributes{"password": "another good one"}).want(201)
		ada.get(accountPath).want(401)
		owner.with(joined.cookie().Value).get(accountPath).want(200)
		owner.signIn(attributes{"email": ada.email, "password": goodPassword}).want(401)
		owner.signIn(attributes{"email": ada.email, "password": "another good one"}).want(201)
	})
}
