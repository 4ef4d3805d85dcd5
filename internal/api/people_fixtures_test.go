package api_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// goodPassword is the password of all users in tests.
const goodPassword = "correct horse battery"

// person is somebody with a session.
type person struct {
	client
	id, email string
}

// bareBody returns attributes as a bare body.
func bareBody(members attributes) string {
	text, err := json.Marshal(members)
	if err != nil {
		panic(err) // members are literals of tests
	}
	return string(text)
}

func (c client) invite(email, role string) answer {
	c.t.Helper()
	return c.post(invitationsPath, bareBody(attributes{"email": email, "role": role}))
}

// token returns the token of a link.
func tokenOf(t testing.TB, link string) string {
	t.Helper()
	parsed, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Query().Get("token")
}

// redeem uses a link with the good password.
func (c client) redeem(link string, more attributes) answer {
	c.t.Helper()
	sent := attributes{"token": tokenOf(c.t, link), "password": goodPassword}
	maps.Copy(sent, more)
	return c.as("").post(redeemPath, bareBody(sent))
}

func (c client) signIn(credentials attributes, options ...option) answer {
	c.t.Helper()
	return c.as("").post(sessionsPath, bareBody(credentials), options...)
}

// cookie returns the cookie that an answer sets.
func (a answer) cookie() *http.Cookie {
	a.t.Helper()
	cookies := (&http.Response{Header: a.header}).Cookies()
	if len(cookies) != 1 || strings.TrimPrefix(cookies[0].Name, "__Host-") != "signalbox_session" {
		a.t.Fatalf("%s: got the cookies %v", a.what, cookies)
	}
	return cookies[0]
}

// join creates a user of the client's account and signs them in.
func (c client) join(role, name string) person {
	c.t.Helper()
	email := unique("Person") + "@Example.com"
	joined := c.redeem(c.invite(email, role).want(201).text("link"), attributes{"name": name}).want(201)
	return person{client: c.with(joined.cookie().Value), id: joined.text("user"), email: email}
}

// again returns the same person with another session.
func (p person) again() person {
	p.t.Helper()
	p.client = p.with(p.signIn(attributes{"email": p.email, "password": goodPassword}).want(201).cookie().Value)
	return p
}

// aUser creates a user without a session.
func aUser(owner client) string {
	person := owner.join("VIEWER", "Somebody")
	person.delete(sessionsPath + "/current").want(204)
	return usersPath + "/" + person.id
}

func anInvitation(owner client) string {
	return invitationsPath + "/" + owner.invite(unique("invited")+"@example.com", "VIEWER").want(201).data().ID
}

// aLink creates a VIEWER's link for a new password.
func aLink(owner client) string {
	user := aUser(owner)
	owner.post(user+"/actions/reset_password", "").want(200)
	return linksPath + "/" + owner.get(linksPath + "?filter[user]=" + strings.TrimPrefix(user, usersPath+"/")).want(200).ids()[0]
}

// aSession returns the path of a session of the owner's key, whose role is OWNER.
func aSession(owner client) string {
	return sessionsPath + "/" + owner.signIn(attributes{"api_key": owner.key}).want(201).data().ID
}

func inviting(client) (path, text string) {
	return invitationsPath, bareBody(attributes{"email": unique("invited") + "@example.com"})
}

func redeeming(owner client) (path, text string) {
	link := owner.invite(unique("invited")+"@example.com", "VIEWER").want(201).text("link")
	return redeemPath, bareBody(attributes{"token": tokenOf(owner.t, link), "password": goodPassword})
}

func signingIn(owner client) (path, text string) {
	return sessionsPath, bareBody(attributes{"api_key": owner.key})
}

// everySession returns sessions of a user of each role, and one that has ended.
func everySession(owner client) map[string]person {
	people := map[string]person{"ended": owner.join("OWNER", "Gone")}
	people["ended"].delete(sessionsPath + "/current").want(204)
	for _, role := range []string{"VIEWER", "MEMBER", "ADMIN", "OWNER"} {
		people[role] = owner.join(role, "A "+role)
	}
	return people
}

// requireSameForSessions checks that a person may do the same as a key with their role.
// sessions_test.go tests the routes of sessions themselves.
func requireSameForSessions(t *testing.T, owner client, row access, people map[string]person) {
	t.Helper()
	if strings.Contains(row.route, "/sessions/current") || strings.HasSuffix(row.route, "/password") {
		return
	}
	statuses := strings.Fields(row.want)
	column := func(credential string) string { return statuses[slices.Index(credentials, credential)] }
	for who, person := range people {
		want := column("garbage")
		if who != "ended" {
			want = column(who)
		}
		path, text := row.target(owner)
		method, _, _ := strings.Cut(row.route, " ")
		got := person.in(t).send(method, path, text, inProduction(path), with("Origin", owner.node.URL), with("Sec-Fetch-Site", "same-origin"))
		if got.statusText() != want {
			t.Errorf("a session of %s: got %d, want %s: %s", who, got.status, want, got.body)
		}
	}
}
