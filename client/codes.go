package signalbox

import (
	"context"
	"time"
)

// SignInCode signs a person in somewhere else, such as in a terminal. It works once, for 10 minutes, while the session lasts that it
// was created in.
type SignInCode struct {
	Resource
	Code      string    `json:"code"`
	ExpiresAt time.Time `json:"expires_at"`
}

// CreateCode returns a code for the person of this client, who signed in; [SignInWithCode] takes it.
func (a SessionsAPI) CreateCode(ctx context.Context) (SignInCode, error) {
	return fetch[SignInCode](ctx, a.sessions.transport, post(nil, a.sessions.path, current, "codes"))
}

// SignInWithCode opens a session with a code that the person got where they are signed in already, and returns a client that
// acts as the person.
func SignInWithCode(ctx context.Context, baseURL, code string, options ...Option) (*Client, Session, error) {
	return signIn(ctx, baseURL, options, document("session", "", map[string]string{"code": code}), "sessions")
}

// Resume returns a client that goes on with a session, whose token signing in returned. It sends nothing yet.
func Resume(baseURL, token string, options ...Option) (*Client, error) {
	t, err := newTransport(baseURL, options)
	if err != nil {
		return nil, err
	}
	if err := checkSecret("session's token", token); err != nil {
		return nil, err
	}
	t.session = token
	return newClient(t), nil
}
