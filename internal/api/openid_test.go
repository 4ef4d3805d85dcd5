package api_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/api"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/openid"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/telemetry"
)

const startPath = "/auth/oidc/start"

// cookieOf returns the cookie of a name that an answer sets, or nil.
func (a answer) cookieOf(name string) *http.Cookie {
	for _, cookie := range (&http.Response{Header: a.header}).Cookies() {
		if cookie.Name == name {
			return cookie
		}
	}
	return nil
}

// begun is a sign-in for which the browser is sent to the provider.
type begun struct {
	client   client
	location string
	flow     *http.Cookie
}

// begin starts a sign-in.
func begin(c client, query string) begun {
	c.t.Helper()
	got := c.as("").get(startPath + query).want(303)
	flow := got.cookieOf("signalbox_oidc")
	if flow == nil || !flow.HttpOnly || flow.SameSite != http.SameSiteLaxMode || flow.Path != "/auth/oidc" || flow.MaxAge != 600 {
		c.t.Fatalf("%s: got the cookie %v", got.what, flow)
	}
	return begun{c.as(""), got.header.Get("Location"), flow}
}

// altered returns the sign-in with another value of a parameter that goes to the provider.
func (b begun) altered(name, value string) begun {
	b.client.t.Helper()
	target, err := url.Parse(b.location)
	if err != nil {
		b.client.t.Fatal(err)
	}
	query := target.Query()
	query.Set(name, value)
	target.RawQuery = query.Encode()
	b.location = target.String()
	return b
}

// finish brings the browser back from the provider.
func (b begun) finish(back *url.URL) answer {
	b.client.t.Helper()
	return b.client.get(back.RequestURI(), with("Cookie", "signalbox_oidc="+b.flow.Value))
}

// signedInAs does all of a sign-in.
func (p openIDProvider) signInAs(c client, name string) answer {
	c.t.Helper()
	started := begin(c, "")
	return started.finish(p.visit(started.location, name))
}

// person returns who an answer signed in.
func (a answer) person(c client) (person, answer) {
	a.t.Helper()
	cookie := a.want(303).cookieOf("signalbox_session")
	if cookie == nil {
		a.t.Fatalf("%s: no session in %v", a.what, a.header)
	}
	signedIn := person{client: c.with(cookie.Value)}
	user := signedIn.get(usersPath + "/current").want(200)
	signedIn.id, signedIn.email = user.data().ID, user.text("email")
	return signedIn, user
}

// ada returns the claims of a person at the provider.
func ada(more attributes) attributes {
	claims := attributes{"email": "Ada@Example.com", "email_verified": true, "name": "Ada Lovelace", "groups": []string{"all", "admins", "unknown"}}
	maps.Copy(claims, more)
	return claims
}

func TestOpenID_SignIn(t *testing.T) {
	t.Parallel()
	provider := startProvider(t)
	for _, kind := range []string{"sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			provider := provider
			provider.t = t
			owner := start(t, storetest.New(t, kind), provider.settings)
			name := "ada-" + kind
			provider.knows(name, ada(nil))
			started := begin(owner, "?return="+url.QueryEscape("/flags?page=2"))
			back := provider.visit(started.location, name)
			got := started.finish(back)
			if location := got.want(303).header.Get("Location"); location != "/flags?page=2" {
				t.Errorf("it ends at %s", location)
			}
			if spent := got.cookieOf("signalbox_oidc"); spent == nil || spent.MaxAge >= 0 {
				t.Errorf("the sign-in can be repeated: %v", spent)
			}
			first, user := got.person(owner)
			requireContains(t, "attributes", user.data().Attributes, attributes{"email": "Ada@Example.com", "name": "Ada Lovelace", "role": "ADMIN", "can_sign_in": true})
			// The session is one as by password.
			first.get(usersPath).want(200)
			current := first.get(sessionsPath + "/current").want(200)
			requireContains(t, "attributes", current.data().Attributes, attributes{"user": first.id, "api_key": nil, "role": "ADMIN"})
			requireContains(t, "history", owner.latest().Attributes, attributes{"kind": "session", "actor": map[string]any{"type": "user", "name": "Ada Lovelace"}})
			// Another sign-in is the same user, whose claims may have changed.
			provider.knows(name, ada(attributes{"email": "ada.king@example.com", "groups": "all", "name": "Countess"}))
			second, user := provider.signInAs(owner, name).person(owner)
			requireContains(t, "attributes", user.data().Attributes, attributes{"email": "ada.king@example.com", "name": "Ada Lovelace", "role": "VIEWER"})
			if second.id != first.id {
				t.Error("the same subject became another user")
			}
			first.get(usersPath).want(403) // the first session has the role that the user has now
			changed := owner.get(owner.lastOf("user:" + first.id)).want(200)
			requireContains(t, "attributes", changed.data().Attributes, attributes{"actor": map[string]any{"type": "system", "id": "signalbox", "name": "Signalbox"}})
			// A code works once.
			started.finish(back).refusedSignIn("provider")
		})
	}
}

// refusedSignIn checks that nobody was signed in, and that the person is told why. Without
// a console this is a text.
func (a answer) refusedSignIn(reason string) answer {
	a.t.Helper()
	if a.cookieOf("signalbox_session") != nil {
		a.t.Errorf("%s: there is a session", a.what)
	}
	if location := a.header.Get("Location"); a.status == http.StatusSeeOther { // a console is built in
		if !strings.HasSuffix(location, "/sign-in?error="+reason) {
			a.t.Errorf("%s: got %s, want %s", a.what, location, reason)
		}
		return a
	}
	want := map[string]struct {
		status int
		says   string
	}{
		"state":            {401, "Sign in again."},
		"canceled":         {401, "You did not sign in"},
		"provider":         {401, "did not confirm"},
		"unavailable":      {503, "does not answer"},
		"email":            {403, "gave no e-mail address"},
		"email_unverified": {403, "has not verified"},
		"domain":           {403, "may not sign in"},
		"no_role":          {403, "nothing gives you a role"},
		"conflict":         {403, "signs in as somebody else"},
	}[reason]
	if a.status != want.status || !strings.HasPrefix(string(a.body), "Signing in failed: ") || !a.contains(want.says) {
		a.t.Errorf("%s: got %d %s, want %s", a.what, a.status, a.body, reason)
	}
	return a
}

func TestOpenID_ForgedAnswers(t *testing.T) {
	t.Parallel()
	provider := startProvider(t)
	provider.knows("ada", ada(nil))
	owner := start(t, storetest.New(t, "sqlite"), provider.settings)
	users := owner.get(usersPath).want(200).ids()
	set := func(back *url.URL, name, value string) *url.URL {
		altered, query := *back, back.Query()
		query.Set(name, value)
		altered.RawQuery = query.Encode()
		return &altered
	}
	started := begin(owner, "")
	back := provider.visit(started.location, "ada")
	other := begin(owner, "")
	started.finish(set(back, "state", "another")).refusedSignIn("state")
	started.finish(set(back, "state", "")).refusedSignIn("state")
	other.finish(back).refusedSignIn("state") // of another browser
	owner.as("").get(back.RequestURI()).refusedSignIn("state")
	for _, flow := range []string{"x", "AAAA", other.flow.Value[:40], other.flow.Value + "A"} {
		owner.as("").get(back.RequestURI(), with("Cookie", "signalbox_oidc="+flow)).refusedSignIn("state")
	}
	started.finish(set(back, "iss", "https://evil.example.com")).refusedSignIn("provider")
	started.finish(set(back, "code", "")).refusedSignIn("provider")
	started.finish(set(back, "code", "guessed")).refusedSignIn("provider")
	started.finish(set(set(back, "error", "access_denied"), "code", "")).refusedSignIn("canceled")
	started.finish(set(back, "error", "server_error")).refusedSignIn("provider")
	t.Run("nonce", func(t *testing.T) {
		forged := begin(owner.in(t), "").altered("nonce", "another")
		forged.finish(provider.visit(forged.location, "ada")).refusedSignIn("provider")
	})
	t.Run("PKCE", func(t *testing.T) {
		forged := begin(owner.in(t), "").altered("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
		forged.finish(provider.visit(forged.location, "ada")).refusedSignIn("provider")
	})
	t.Run("expired code", func(t *testing.T) {
		late := begin(owner.in(t), "")
		back := provider.visit(late.location, "ada")
		provider.ahead("120") // codes last a minute
		late.finish(back).refusedSignIn("provider")
		provider.ahead("0")
	})
	if got := owner.get(usersPath).want(200).ids(); len(got) != len(users) {
		t.Errorf("there are new users: %v", got)
	}
	started.finish(back).person(owner) // the unaltered sign-in still works
}

func TestOpenID_WhoMay(t *testing.T) {
	t.Parallel()
	provider := startProvider(t)
	owner := start(t, storetest.New(t, "sqlite"), provider.settings)
	for reason, claims := range map[string]attributes{
		"email_unverified": ada(attributes{"email_verified": false}),
		"domain":           ada(attributes{"email": "ada@sub.example.com"}),
		"no_role":          ada(attributes{"groups": []string{"others"}}),
		"email":            {"groups": "all", "email_verified": true},
	} {
		t.Run(reason, func(t *testing.T) {
			owner := owner.in(t)
			provider.knows(reason, claims)
			provider.signInAs(owner, reason).refusedSignIn(reason)
		})
	}
	// The strongest role wins; a claim may be one text.
	for groups, role := range map[string]string{"all": "VIEWER", "admins": "ADMIN", "owners": "OWNER"} {
		t.Run(groups, func(t *testing.T) {
			owner := owner.in(t)
			provider.knows(groups, ada(attributes{"email": groups + "@example.com", "groups": groups}))
			_, user := provider.signInAs(owner, groups).person(owner)
			requireContains(t, "attributes", user.data().Attributes, attributes{"role": role})
		})
	}
	// An address belongs to one subject.
	provider.knows("impostor", ada(attributes{"email": "all@example.com"}))
	provider.signInAs(owner, "impostor").refusedSignIn("conflict")
	// The last OWNER stays one, but has to be somebody.
	provider.knows("owners", ada(attributes{"email": "owners@example.com", "groups": "all"}))
	last, user := provider.signInAs(owner, "owners").person(owner)
	requireContains(t, "attributes", user.data().Attributes, attributes{"role": "OWNER"})
	provider.knows("admins", ada(attributes{"email": "admins@example.com", "groups": "owners"}))
	provider.signInAs(owner, "admins").person(owner)
	_, user = provider.signInAs(owner, "owners").person(owner)
	requireContains(t, "attributes", user.data().Attributes, attributes{"role": "VIEWER"})
	provider.knows("owners", ada(attributes{"email": "owners@example.com", "groups": "others"}))
	provider.signInAs(owner, "owners").refusedSignIn("no_role")
	last.get(usersPath + "/current").want(200)
}

// TestOpenID_Invited: people of the first account sign in with their address, and people who
// are invited accept the invitation that way. The first account's rules apply.
func TestOpenID_Invited(t *testing.T) {
	t.Parallel()
	provider := startProvider(t)
	ruled := start(t, storetest.New(t, "sqlite"), provider.settings)
	elsewhere := ruled.account("pro")
	lenient := start(t, storetest.New(t, "sqlite"), provider.settings, func(s *settings.Settings) { s.OIDCRoles, s.OIDCDomains = nil, []string{"*"} })
	invited := lenient.join("MEMBER", "Grace")
	provider.knows("lenient", ada(attributes{"email": strings.ToUpper(invited.email), "groups": "owners"}))
	signedIn, user := provider.signInAs(lenient, "lenient").person(lenient)
	requireContains(t, "attributes", user.data().Attributes, attributes{"role": "MEMBER", "name": "Grace"})
	if signedIn.id != invited.id {
		t.Error("it is another user")
	}
	invited.again() // the password works as before
	// Nobody has used the link: whom the provider knows by this address was invited.
	elsewhere.invite("grace@example.com", "MEMBER").want(201)
	provider.knows("elsewhere", ada(attributes{"email": "Grace@example.com", "groups": "others"}))
	_, user = provider.signInAs(elsewhere, "elsewhere").person(elsewhere)
	requireContains(t, "attributes", user.data().Attributes, attributes{"role": "MEMBER", "name": "Ada Lovelace"})
	if open := elsewhere.get(invitationsPath).want(200).ids(); len(open) != 0 {
		t.Errorf("the invitation is still open: %v", open)
	}
	provider.knows("stranger", ada(attributes{"email": "stranger@elsewhere.org"}))
	provider.signInAs(lenient, "stranger").refusedSignIn("no_role")
	member := ruled.join("MEMBER", "Grace")
	provider.knows("ruled", ada(attributes{"email": member.email, "groups": "admins"}))
	_, user = provider.signInAs(ruled, "ruled").person(ruled)
	requireContains(t, "attributes", user.data().Attributes, attributes{"role": "ADMIN"})
}

// TestOpenID_Squatting: the user who invites an address can use the link, and then has the address of somebody
// else. The person whom the provider knows by that address is not signed in as this user.
func TestOpenID_Squatting(t *testing.T) {
	t.Parallel()
	provider := startProvider(t)
	ruled := start(t, storetest.New(t, "sqlite"), provider.settings)
	lenient := start(t, storetest.New(t, "sqlite"), provider.settings, func(s *settings.Settings) { s.OIDCRoles = nil })
	for name, home := range map[string]client{"ruled": ruled, "lenient": lenient} {
		tenant := home.account("pro")
		tenant.redeem(tenant.invite("ceo@example.com", "OWNER").want(201).text("link"), nil).want(201)
		provider.knows(name, ada(attributes{"email": "ceo@example.com", "groups": "admins"}))
	}
	_, user := provider.signInAs(ruled, "ruled").person(ruled)
	requireContains(t, "attributes", user.data().Attributes, attributes{"role": "ADMIN", "email": "ceo@example.com", "can_sign_in": true})
	ruled.get(usersPath + "/" + user.data().ID).want(200) // in the first account
	provider.signInAs(lenient, "lenient").refusedSignIn("no_role")
}

// TestOpenID_Addresses: what Unicode's lower case makes equal is another address.
func TestOpenID_Addresses(t *testing.T) {
	t.Parallel()
	provider := startProvider(t)
	owner := start(t, storetest.New(t, "sqlite"), provider.settings, func(s *settings.Settings) {
		s.OIDCRoles, s.OIDCDomains = nil, []string{"exampli.com", "xn--bcher-kva.example"}
	})
	owner.redeem(owner.invite("nik@exampli.com", "OWNER").want(201).text("link"), nil).want(201)
	owner.redeem(owner.invite("nik@bücher.example", "MEMBER").want(201).text("link"), nil).want(201)
	for email, reason := range map[string]string{"nİk@examplİ.com": "email", "nİk@exampli.com": "no_role", "ni\u212A@exampli.com": "no_role",
		"nik@e\u212Aampli.com": "email", "nik@xn--exampl-t6c.com": "domain"} {
		t.Run(email, func(t *testing.T) {
			owner := owner.in(t)
			provider.knows("other", ada(attributes{"email": email}))
			provider.signInAs(owner, "other").refusedSignIn(reason)
		})
	}
	for name, email := range map[string]string{"ascii": "NIK@Exampli.com", "idna": "nik@XN--bcher-kva.example"} {
		t.Run(name, func(t *testing.T) {
			owner := owner.in(t)
			provider.knows(name, ada(attributes{"email": email}))
			_, user := provider.signInAs(owner, name).person(owner)
			if role := user.text("role"); (role == "OWNER") != (name == "ascii") {
				t.Errorf("%s is %s", email, role)
			}
		})
	}
}

// TestOpenID_SecureCookies: other hosts of the domain cannot plant the cookies of a server with TLS.
func TestOpenID_SecureCookies(t *testing.T) {
	t.Parallel()
	provider := startProvider(t)
	owner := start(t, storetest.New(t, "sqlite"), provider.settings, func(s *settings.Settings) { s.PublicURL = "https://box.example/base" }).as("")
	flow := owner.get(startPath).want(303).cookieOf("__Host-signalbox_oidc")
	if flow == nil || !flow.Secure || flow.Path != "/" || flow.Domain != "" {
		t.Fatalf("got the cookie %v", flow)
	}
	for _, name := range []string{"signalbox_oidc", "__Host-signalbox_oidc"} { // the state is wrong in both
		t.Run(name, func(t *testing.T) {
			owner.in(t).get("/auth/oidc/callback?code=x&state=y", with("Cookie", name+"="+flow.Value)).refusedSignIn("state")
		})
	}
}

func TestOpenID_PublicClient(t *testing.T) {
	t.Parallel()
	provider := startProvider(t)
	owner := start(t, storetest.New(t, "sqlite"), provider.settings, func(s *settings.Settings) { s.OIDCClientID, s.OIDCClientSecret = "public", "" })
	provider.knows("ada", ada(nil))
	provider.signInAs(owner, "ada").person(owner)
}

func TestOpenID_ReturnsToOwnPathsOnly(t *testing.T) {
	t.Parallel()
	provider := startProvider(t)
	owner := start(t, storetest.New(t, "sqlite"), provider.settings).as("")
	for _, path := range []string{"https://evil.example.com", "//evil.example.com", `/\evil.example.com`, `\\evil.example.com`, "flags", "javascript:alert(1)",
		"/\t/evil.example.com", "/\n", "https:evil", "?", "/" + strings.Repeat("x", 2000)} {
		t.Run(fmt.Sprintf("%.40q", path), func(t *testing.T) {
			got := owner.in(t).get(startPath+"?return="+url.QueryEscape(path), offContract)
			got.what += " of " + path
			got.refused(400, wrongParameter("return"))
		})
	}
	begin(owner, "?return=/")
	begin(owner, "?return="+url.QueryEscape("/flags/a%2Fb?x=//y#z"))
}

// TestOpenID_ProviderAway: the server starts and works without its provider, and finds
// it when it is there.
func TestOpenID_ProviderAway(t *testing.T) {
	t.Parallel()
	owner := start(t, storetest.New(t, "sqlite"), func(s *settings.Settings) {
		s.OIDCIssuer, s.OIDCClientID = "http://127.0.0.1:1", "signalbox"
	})
	owner.get(environmentsPath).want(200)
	owner.as("").get(startPath).refusedSignIn("unavailable")
}

func TestOpenID_Methods(t *testing.T) {
	t.Parallel()
	without := newOwner(t, "pro").as("")
	with := start(t, storetest.New(t, "sqlite"), func(s *settings.Settings) { s.OIDCIssuer, s.OIDCClientID = "http://127.0.0.1:1", "signalbox" }).as("")
	for name, c := range map[string]struct {
		client client
		want   string
	}{
		"without a provider": {without, `{"meta":{"methods":["password","api_key"]}}`},
		"with a provider":    {with, `{"meta":{"methods":["password","api_key","oidc"]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.client.in(t).get("/auth/methods").want(200); strings.TrimSpace(string(got.body)) != c.want {
				t.Errorf("got %s, want %s", got.body, c.want)
			}
		})
	}
	for _, path := range []string{startPath, "/auth/oidc/callback?code=x&state=y"} {
		t.Run(path, func(t *testing.T) { without.in(t).get(path).refused(404, problem{code: "not_found"}) })
	}
}

// failing is a provider with which nobody can sign in.
type failing struct{ err error }

func (f failing) Start(context.Context, string, string) (openid.Begun, error) {
	return openid.Begun{}, f.err
}
func (f failing) Finish(context.Context, string, url.Values) (accounts.Identity, string, error) {
	return accounts.Identity{}, "", f.err
}

// TestOpenID_ConsoleTells: where there is a console, its sign-in page says why.
func TestOpenID_ConsoleTells(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"domain": fault.New(fault.Forbidden, "No.").With("reason", "domain"),
		"failed": errors.New("the disk is full"),
	} {
		t.Run(want, func(t *testing.T) {
			for _, path := range []string{startPath, "/auth/oidc/callback?code=x&state=y"} {
				served := api.New(api.Services{OpenID: failing{err}, Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewMetrics("test")},
					api.Options{SignInPage: "/sign-in", PublicURL: "https://example.com/box"})
				got := httptest.NewRecorder()
				served.ServeHTTP(got, httptest.NewRequest(http.MethodGet, path, nil))
				if location := got.Header().Get("Location"); got.Code != http.StatusSeeOther || location != "/box/sign-in?error="+want {
					t.Errorf("%s: got %d to %s", path, got.Code, location)
				}
			}
		})
	}
}
