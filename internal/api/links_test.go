package api_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/store"
)

func noLink() problem { return problem{code: "not_found"} }

func TestLink_WorksOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		invited := owner.invite(unique("x")+"@example.com", "MEMBER").want(201)
		link := invited.text("link")
		if !strings.HasPrefix(link, owner.node.URL+"/join?token=") {
			t.Errorf("got %s", link)
		}
		const callers = 6
		results := make(chan int, callers)
		for range callers {
			go func() { results <- owner.redeem(link, nil).status }()
		}
		joined := 0
		for range callers {
			if status := <-results; status == 201 {
				joined++
			} else if status != 404 {
				t.Errorf("got %d", status)
			}
		}
		if joined != 1 {
			t.Errorf("the link worked %d times", joined)
		}
		used := owner.redeem(link, nil)
		used.refused(404, noLink())
		never := owner.redeem("https://x/join?token=nothing", nil)
		never.refused(404, noLink())
		if string(used.body) != string(never.body) {
			t.Errorf("a used and an unknown link differ: %s, %s", used.body, never.body)
		}
		owner.get(invitationsPath+"/"+invited.data().ID).refused(404, problem{code: "not_found"})
	})
}

func TestLink_Expires(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	invited := owner.invite(unique("x")+"@example.com", "MEMBER").want(201)
	past := time.Now().Add(-time.Second)
	plant(owner, func(ctx context.Context, tx *store.Tx) error {
		return tx.SaveLink(ctx, accounts.Link{Hash: accounts.ParseSecret("expired-" + invited.data().ID).Hash(),
			Account: owner.get(accountPath).data().ID, Kind: accounts.JoinLink, Subject: invited.data().ID, ExpiresAt: &past})
	})
	owner.redeem("https://x/join?token=expired-"+invited.data().ID, nil).refused(404, noLink())
	owner.redeem(invited.text("link"), nil).refused(404, noLink()) // another took its place
	if expires, err := time.Parse(time.RFC3339, invited.text("expires_at")); err != nil || time.Until(expires).Round(time.Hour) != 7*24*time.Hour {
		t.Errorf("got %s, %v", expires, err)
	}
}

func TestLink_EndsWithWhatItIsAbout(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	email := unique("x") + "@example.com"
	invited := owner.invite(email, "MEMBER").want(201)
	owner.invite(strings.ToUpper(email), "VIEWER").refused(409, problem{code: "already_exists", source: "pointer /email"})
	owner.delete(invitationsPath + "/" + invited.data().ID).want(204)
	owner.redeem(invited.text("link"), nil).refused(404, noLink())
	owner.invite(email, "VIEWER").want(201)

	path := aUser(owner)
	first, second := owner.post(path+"/actions/reset_password", "{}").want(200), owner.post(path+"/actions/reset_password", "").want(200)
	owner.redeem(first.text("link"), nil).refused(404, noLink())
	owner.delete(path).want(204)
	owner.redeem(second.text("link"), nil).refused(404, noLink())
}

func TestLink_InvalidInput(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	link := owner.invite(unique("x")+"@example.com", "MEMBER").want(201).text("link")
	owner.as("").post(redeemPath, `{"password":"long enough"}`).refused(400, invalid("/token"))
	owner.redeem(link, attributes{"password": "too short"}).refused(400, invalid("/password"))
	owner.redeem(link, attributes{"password": strings.Repeat("x", 201), "name": ""}).refused(400, invalid("/password"), invalid("/name"))
	owner.redeem(link, attributes{"email": "other@example.com"}).refused(400, invalid("/email"))
	owner.as("").post(redeemPath, envelope("link", "", attributes{"token": tokenOf(t, link), "password": "short"})).refused(400, invalid("/data/attributes/password"))
	joined := owner.as("").post(redeemPath, envelope("link", "", attributes{"token": tokenOf(t, link), "password": strings.Repeat("ü", 10)})).want(201)
	owner.with(joined.cookie().Value).get(accountPath).want(200)
}

func TestLink_SetUp(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		account := owner.accountKey()
		var links []string
		operate(t, owner.node, func(operator *app.Operator) error {
			for range 2 {
				link, err := operator.SetupLink(t.Context(), account)
				if err != nil {
					return err
				}
				links = append(links, link)
			}
			return nil
		})
		owner.redeem(links[0], attributes{"email": "x@example.com"}).refused(404, noLink())
		owner.redeem(links[1], nil).refused(400, invalid("/email"))
		email := unique("Ada") + "@example.com"
		set := owner.redeem(links[1], attributes{"email": email, "name": "Ada"}).want(201)
		ada := owner.with(set.cookie().Value)
		first := owner.get("/api/v1/users/current").want(200)
		if first.text("email") != email || first.text("name") != "Ada" || first.text("role") != "OWNER" || first.attribute("can_sign_in") != true ||
			ada.get("/api/v1/users/current").want(200).data().ID != first.data().ID {
			t.Errorf("got %s", first.body)
		}
		owner.redeem(links[1], attributes{"email": email}).refused(404, noLink())
	})
}

// An unused set-up link ends as soon as an OWNER can sign in.
func TestLink_SetUpEndsWithAnyOwner(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	account, link := owner.accountKey(), ""
	operate(t, owner.node, func(operator *app.Operator) (err error) {
		link, err = operator.SetupLink(t.Context(), account)
		return err
	})
	owner.join("OWNER", "Ada")
	owner.redeem(link, attributes{"email": unique("x") + "@example.com"}).refused(404, noLink())
}

// TestLink_EndsWithItsMaker: a link ends when its creator loses the right to give the link's role.
func TestLink_EndsWithItsMaker(t *testing.T) {
	t.Parallel()
	type maker struct {
		client
		path string
	}
	key := func(owner client) maker {
		made := owner.makeKey(attributes{"role": "OWNER"})
		return maker{owner.as(made.secret), made.path}
	}
	someone := func(owner client) maker {
		user := owner.join("OWNER", "Maker")
		return maker{user.client, usersPath + "/" + user.id}
	}
	lower := func(owner client, who maker, role string) {
		owner.put(who.path, envelope("", "", attributes{"name": "Lowered", "role": role})).want(200)
	}
	cases := map[string]struct {
		make func(owner client) maker
		lose func(owner client, who maker)
	}{
		"key revoked": {key, func(owner client, who maker) { owner.post(who.path+"/actions/revoke", "").want(200) }},
		"key deleted": {key, func(owner client, who maker) { owner.delete(who.path).want(204) }},
		"key lowered": {key, func(owner client, who maker) { lower(owner, who, "ADMIN") }},
		"key scoped down": {key, func(owner client, who maker) {
			owner.put(who.path, envelope("", "", attributes{"name": "Scoped", "scopes": attributes{"environments": []string{"staging"}}})).want(200)
		}},
		"person deleted": {someone, func(owner client, who maker) { owner.delete(who.path).want(204) }},
		"person lowered": {someone, func(owner client, who maker) { lower(owner, who, "ADMIN") }},
	}
	onBoth(t, "pro", func(t *testing.T, owner client) {
		for name, each := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				owner := owner.in(t)
				who := each.make(owner)
				subject := owner.join("OWNER", "Subject")
				links := []string{
					who.invite(unique("x")+"@example.com", "OWNER").want(201).text("link"),
					who.post(usersPath+"/"+subject.id+"/actions/reset_password", "").want(200).text("link"),
				}
				each.lose(owner, who)
				for _, link := range links {
					owner.redeem(link, nil).refused(404, noLink())
				}
				subject.get(accountPath).want(200) // nothing of the redeeming stays
			})
		}
	})
}

func TestLink_EndsWhenTheUserRises(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(_ *testing.T, owner client) {
		admin, member := owner.join("ADMIN", "Admin"), owner.join("MEMBER", "Member")
		path := usersPath + "/" + member.id
		link := admin.post(path+"/actions/reset_password", "").want(200).text("link")
		owner.put(path, envelope("", "", attributes{"name": "Risen", "role": "OWNER"})).want(200)
		owner.redeem(link, nil).refused(404, noLink())
		owner.put(path, envelope("", "", attributes{"name": "Risen", "role": "ADMIN"})).refused(409, problem{code: "last_owner"})
		owner.redeem(owner.post(path+"/actions/reset_password", "").want(200).text("link"), nil).want(201)
	})
}

func TestLink_Withdrawn(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		admin, user := owner.join("ADMIN", "Admin"), owner.join("OWNER", "User")
		link := owner.post(usersPath+"/"+user.id+"/actions/reset_password", "").want(200).text("link")
		listed := owner.get(linksPath + "?filter[user]=" + user.id).want(200).ids()
		if len(listed) != 1 {
			t.Fatalf("got %v", listed)
		}
		path := linksPath + "/" + listed[0]
		if found := admin.get(path).want(200); found.text("user") != user.id || found.text("role") != "OWNER" || found.contains(tokenOf(t, link)) {
			t.Errorf("got %s", found.body)
		}
		admin.delete(path).refused(403, problem{code: "forbidden"})
		owner.delete(path).want(204)
		owner.redeem(link, nil).refused(404, noLink())
		owner.get(path).refused(404, problem{code: "not_found"})
	})
}
