package api

import (
	"cmp"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jsonapi"
)

// sessionCookie names the cookie of a session; cookieName adds __Host- under TLS.
const sessionCookie = "signalbox_session"

// maxOpenBody bounds the bodies of requests without a credential.
const maxOpenBody = 64 << 10

func sessionResource() resource[accounts.Session, none, accounts.SessionFilter] {
	return describe(accounts.KindSession, func(s accounts.Session) (string, any) { return s.ID, sessionAttributes{s} }, sessionFilter, noDraft)
}

// sessionAttributes is a session as callers see it.
type sessionAttributes struct{ accounts.Session }

// Definition returns the session without its last use.
func (s sessionAttributes) Definition() any {
	s.LastUsedAt = time.Time{}
	return s.Session
}

func sessionFilter(c *call) accounts.SessionFilter {
	return accounts.SessionFilter{User: c.query.Filter("user").Or("")}
}

// isSecure reports whether the caller uses TLS, at least up to a proxy.
func (a *API) isSecure(r *http.Request) bool { return a.secure || r.TLS != nil }

// cookieName returns the name of a cookie, with the prefix __Host- if the caller uses TLS.
// Browsers do not let other hosts of the domain, or pages without TLS, set cookies with
// this prefix, so they cannot plant a session.
func (a *API) cookieName(r *http.Request, name string) string {
	if a.isSecure(r) {
		return "__Host-" + name
	}
	return name
}

// cookieValue returns the value of a cookie, or "".
func cookieValue(r *http.Request, name string) string {
	cookie, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// begin sets the cookie of a new session. Expect makes the session work even if wrong
// tokens arrive from the same address.
func (a *API) begin(c *call, session accounts.Session) {
	a.Auth.Expect(session.Plaintext)
	a.setCookie(c, session.Plaintext, session.ExpiresAt)
}

// setCookie sets the session's cookie, or deletes it if the token is empty.
func (a *API) setCookie(c *call, token string, expires time.Time) {
	cookie := &http.Cookie{Name: a.cookieName(c.request, sessionCookie), Value: token, Path: "/", Expires: expires, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: a.isSecure(c.request)}
	if token == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(c.writer, cookie)
	c.writer.set("Cache-Control", "no-store")
}

// openForm reads the body of a request without a credential. It refuses pages of other
// origins, which could sign a browser in as another person.
func (a *API) openForm(c *call, kind string) (*jsonapi.Envelope, error) {
	if err := a.origins.check(c.request, false); err != nil {
		return nil, err
	}
	if c.request.ContentLength > maxOpenBody {
		return nil, fault.New(fault.PayloadTooLarge, "The body has more than %d bytes.", maxOpenBody)
	}
	c.request.Body = http.MaxBytesReader(c.writer, c.request.Body, maxOpenBody)
	return c.envelopeOrBare(kind)
}

// signIn opens a session for a person or for the holder of a key.
func (a *API) signIn(c *call) (reply, error) {
	envelope, err := a.openForm(c, accounts.KindSession)
	if err != nil {
		return reply{}, err
	}
	if code, sent := envelope.Attributes.String("code").Get(); sent {
		return a.signInWithCode(c, envelope, code)
	}
	attributes, client := envelope.Attributes, c.request.UserAgent()
	key, withKey := attributes.String("api_key").Get()
	if !withKey {
		attributes.Know(jsonapi.MemberNames(sessionAttributes{})...)
		draft := accounts.SignInDraft{Email: attributes.String("email"), Password: attributes.Text("password"),
			Peer: a.peers.of(c.request), Client: client}
		draft.Problems = envelope.Done()
		session, err := a.Accounts.SignIn(c.ctx(), draft)
		return a.signedIn(c, session, err)
	}
	if _, both := attributes.Text("password").Get(); both {
		attributes.Refuse("api_key", "must be left out when there is a password")
	}
	attributes.Know("email")
	if problems := envelope.Done(); problems.Err() != nil {
		return reply{}, problems.Err()
	}
	caller, err := a.Auth.Authenticate(c.ctx(), key, a.peers.of(c.request))
	if err == nil {
		err = cmp.Or(a.limits.take(caller), a.signIns.takeSignIn(caller))
	}
	if err != nil {
		return reply{}, err
	}
	session, err := a.Accounts.SignInWithKey(c.ctx(), caller, client)
	return a.signedIn(c, session, err)
}

// signInWithCode opens a session for the person who made a code.
func (a *API) signInWithCode(c *call, envelope *jsonapi.Envelope, code string) (reply, error) {
	for _, other := range []string{"email", "password", "api_key"} {
		if _, both := envelope.Attributes.Text(other).Get(); both {
			envelope.Attributes.Refuse(other, "must be left out when there is a code")
		}
	}
	draft := accounts.CodeDraft{Code: code, Peer: a.peers.of(c.request), Client: c.request.UserAgent(), Problems: envelope.Done()}
	session, err := a.Accounts.SignInWithCode(c.ctx(), draft)
	return a.signedIn(c, session, err)
}

// makeCode replies with a code that signs the person in once more, in a terminal. The reply has no ETag, because a hash
// would reveal something about the code.
func (a *API) makeCode(c *call) (reply, error) {
	if err := requireSession(c); err != nil {
		return reply{}, err
	}
	if err := c.nothing(); err != nil {
		return reply{}, err
	}
	code, err := a.Accounts.MakeCode(c.ctx(), c.caller)
	c.writer.set("Cache-Control", "no-store")
	return reply{status: http.StatusCreated, document: jsonapi.Single{Data: jsonapi.Resource{ID: code.Session, Type: accounts.KindCode, Attributes: code}}}, err
}

// signedIn replies with a new session and its cookie.
func (a *API) signedIn(c *call, session accounts.Session, err error) (reply, error) {
	if err == nil {
		a.begin(c, session)
	}
	return sessionResource().answer(http.StatusCreated, session, err)
}

// redeem uses up a link.
func (a *API) redeem(c *call) (reply, error) {
	envelope, err := a.openForm(c, "link")
	if err != nil {
		return reply{}, err
	}
	attributes := envelope.Attributes
	draft := accounts.RedeemDraft{Token: attributes.String("token"), Email: attributes.String("email"), Name: attributes.String("name"),
		Password: attributes.Text("password"), Peer: a.peers.of(c.request), Client: c.request.UserAgent()}
	draft.Problems = envelope.Done()
	session, err := a.Accounts.Redeem(c.ctx(), draft)
	return a.signedIn(c, session, err)
}

func (a *API) currentSession(c *call) (reply, error) {
	if err := requireSession(c); err != nil {
		return reply{}, err
	}
	session, err := a.Accounts.CurrentSession(c.ctx(), c.caller)
	return sessionResource().answer(http.StatusOK, session, err)
}

// signOut ends the session that the request came with.
func (a *API) signOut(c *call) (reply, error) {
	if err := requireSession(c); err != nil {
		return reply{}, err
	}
	if err := a.Accounts.EndSession(c.ctx(), c.caller, c.caller.SessionID, ifMatch(c, sessionResource().document)); err != nil {
		return reply{}, err
	}
	a.setCookie(c, "", time.Time{})
	return reply{status: http.StatusNoContent}, nil
}

// requireSession refuses a call that did not come with a session.
func requireSession(c *call) error {
	if err := c.checkQuery(); err != nil {
		return err
	}
	if c.caller.SessionID == "" {
		return fault.New(fault.NotFound, "There is no current session: this request came with an API key.")
	}
	return nil
}
