package signalbox

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Session is the session of a signed-in person or API key.
type Session struct {
	Resource
	// User is the id of the signed-in person, or of the user who created the key.
	User string `json:"user"`
	// Key is the id of the API key that opened the session; nil after a password, OpenID Connect or a code.
	Key        *string   `json:"api_key"`
	Role       Role      `json:"role"`
	Scopes     KeyScopes `json:"scopes"`
	Client     string    `json:"client"` // the User-Agent
	CreatedAt  time.Time `json:"created_at"`
	LastUsedAt time.Time `json:"last_used_at"`
	// ExpiresAt is when the session ends. It also ends 12 hours after its last request.
	ExpiresAt time.Time `json:"expires_at"`
	// Token is the secret to pass to [Resume]. Only signing in returns it.
	Token string `json:"-"`
}

// SessionParams select sessions and a page of them.
type SessionParams struct {
	Paging
	// User is the id of the user whose sessions are listed; empty is the caller. Other users need the role ADMIN.
	User string
}

func (p SessionParams) query() url.Values { return filtered(p.Paging.query(), "user", p.User) }

// SessionsAPI lists and ends sessions.
type SessionsAPI struct{ sessions collection[Session, *Session] }

// SignIn opens a session with an e-mail address and a password and returns a client that acts as the person.
// [IsUnauthorized] reports that the server does not accept them.
func SignIn(ctx context.Context, baseURL, email, password string, options ...Option) (*Client, Session, error) {
	return signIn(ctx, baseURL, options, document("session", "", map[string]string{"email": email, "password": password}), "sessions")
}

// SignInWithKey opens a session that is limited to an API key's role and scopes, and returns a client for it.
// [IsUnauthorized] reports that the server does not accept the key.
func SignInWithKey(ctx context.Context, baseURL, key string, options ...Option) (*Client, Session, error) {
	return signIn(ctx, baseURL, options, document("session", "", map[string]string{"api_key": key}), "sessions")
}

// The ways to sign in that [SignInMethods] returns.
const (
	MethodPassword = "password"
	MethodKey      = "api_key"
	MethodOpenID   = "oidc" // in a browser, at /auth/oidc/start
)

// SignInMethods returns the ways to sign in to a server. It needs no credential.
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

// Redemption uses the link of an invitation, of a password reset or of the server's first start.
type Redemption struct {
	Token    string `json:"token"` // the link's token
	Email    string `json:"email,omitempty"`
	Name     string `json:"name,omitempty"`
	Password string `json:"password"`
}

// Redeem sets a password with a link and returns a client that acts as the person. Only the link of the first start needs
// an e-mail address. [IsNotFound] reports a link that was used, has expired or never existed.
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

// List returns one page of the caller's open sessions, by default the newest first. [SessionParams.User] selects another
// user, which needs the role ADMIN. [Paging.Sort] takes created_at, last_used_at and expires_at.
func (a SessionsAPI) List(ctx context.Context, params SessionParams) (Page[Session], error) {
	return a.sessions.list(ctx, params)
}

// All iterates over every session that params select, starting at their page. It ends after the first error.
func (a SessionsAPI) All(ctx context.Context, params SessionParams) iter.Seq2[Session, error] {
	return a.sessions.all(ctx, params)
}

// Current returns the session of a client that signed in.
func (a SessionsAPI) Current(ctx context.Context) (Session, error) {
	return a.sessions.get(ctx, current)
}

// SignOut ends the session of a client that signed in. The client's later calls fail.
func (a SessionsAPI) SignOut(ctx context.Context) error { return a.sessions.delete(ctx, current, nil) }

// Delete ends a session of the caller. The role ADMIN may also end sessions of users whose role is not above the caller's.
func (a SessionsAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	return a.sessions.delete(ctx, id, options)
}
