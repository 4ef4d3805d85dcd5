package signalbox

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Session is somebody who is signed in.
type Session struct {
	Resource
	// User is the id of the person, or of the user who created the key.
	User string `json:"user"`
	// Key is the id of the API key that the session was opened with; nil is a password, OpenID Connect or a code.
	Key        *string   `json:"api_key"`
	Role       Role      `json:"role"`
	Scopes     KeyScopes `json:"scopes"`
	Client     string    `json:"client"` // the User-Agent
	CreatedAt  time.Time `json:"created_at"`
	LastUsedAt time.Time `json:"last_used_at"`
	// ExpiresAt is when it ends; without a request it ends 12 hours after the last one.
	ExpiresAt time.Time `json:"expires_at"`
	// Token is the secret that [Resume] takes. Only signing in returns it.
	Token string `json:"-"`
}

// SessionParams select sessions and a page of them.
type SessionParams struct {
	Paging
	// User is whose sessions are listed, by id; one's own when it is empty. Anybody else's need the role ADMIN.
	User string
}

func (p SessionParams) query() url.Values { return filtered(p.Paging.query(), "user", p.User) }

// SessionsAPI lists and ends sessions.
type SessionsAPI struct{ sessions collection[Session, *Session] }

// SignIn opens a session with an e-mail address and a password and returns a client that acts as the person.
func SignIn(ctx context.Context, baseURL, email, password string, options ...Option) (*Client, Session, error) {
	return signIn(ctx, baseURL, options, document("session", "", map[string]string{"email": email, "password": password}), "sessions")
}

// SignInWithKey opens a session that is never more than an API key, and returns a client with it.
func SignInWithKey(ctx context.Context, baseURL, key string, options ...Option) (*Client, Session, error) {
	return signIn(ctx, baseURL, options, document("session", "", map[string]string{"api_key": key}), "sessions")
}

// The ways to sign in that [SignInMethods] returns.
const (
	MethodPassword = "password"
	MethodKey      = "api_key"
	MethodOpenID   = "oidc" // with a browser, which begins at /auth/oidc/start
)

// SignInMethods returns how people can sign in to a server. It needs no credential.
func SignInMethods(ctx context.Context, baseURL string, options ...Option) ([]string, error) {
	t, err := newTransport(baseURL, options)
	if err != nil {
		return nil, err
	}
	var received struct {
		Meta struct {
			Methods []string `json:"methods"`
		} `json:"meta"`
	}
	_, err = t.call(ctx, request{method: http.MethodGet, root: "/auth", segments: []string{"methods"}}, &received)
	return received.Meta.Methods, err
}

// Redemption uses a link of an invitation, a reset or the first start.
type Redemption struct {
	Token    string `json:"token"` // of the link
	Email    string `json:"email,omitempty"`
	Name     string `json:"name,omitempty"`
	Password string `json:"password"`
}

// Redeem uses a link, which sets a password, and returns a client that acts as the person. Only a set-up link needs an
// e-mail address. [IsNotFound] reports a link that was used, has expired or never existed.
func Redeem(ctx context.Context, baseURL string, redemption Redemption, options ...Option) (*Client, Session, error) {
	return signIn(ctx, baseURL, options, document("link", "", redemption), "links", "redeem")
}

func signIn(ctx context.Context, baseURL string, options []Option, body writeDocument, segments ...string) (*Client, Session, error) {
	t, err := newTransport(baseURL, options)
	if err != nil {
		return nil, Session{}, err
	}
	session, err := fetch[Session](ctx, t, request{method: "POST", segments: segments, body: body, opens: &t.session})
	if err == nil && t.session == "" {
		err = errors.New("signalbox: the server opened no session")
	}
	if err != nil {
		return nil, Session{}, err
	}
	session.Token = t.session
	return newClient(t), session, nil
}

// List returns one page of the sessions that have not expired, by default the newest first. They are the caller's own,
// or with [SessionParams.User] anybody's, which needs the role ADMIN. [Paging.Sort] takes created_at, last_used_at and
// expires_at.
func (a SessionsAPI) List(ctx context.Context, params SessionParams) (Page[Session], error) {
	return a.sessions.list(ctx, params)
}

// All iterates over every session that params select, from their page on. It ends after the first error.
func (a SessionsAPI) All(ctx context.Context, params SessionParams) iter.Seq2[Session, error] {
	return a.sessions.all(ctx, params)
}

// Current returns the session of a client that signed in.
func (a SessionsAPI) Current(ctx context.Context) (Session, error) {
	return a.sessions.get(ctx, current)
}

// SignOut ends the session of a client that signed in; it can do nothing more.
func (a SessionsAPI) SignOut(ctx context.Context) error { return a.sessions.delete(ctx, current, nil) }

// Delete ends a session: one's own, or with the role ADMIN that of anybody who is not above.
func (a SessionsAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	return a.sessions.delete(ctx, id, options)
}
