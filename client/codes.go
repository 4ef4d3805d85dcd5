package signalbox

import (
	"context"
	"time"
)

// SignInCode signs a person in somewhere else, such as in a terminal. It works once, for 10 minutes, and no longer than
// the session that created it.
type SignInCode struct {
	Resource
	Code      string    `json:"code"`
	ExpiresAt time.Time `json:"expires_at"`
}

// CreateCode returns a code for the signed-in person of this client. Pass it to [SignInWithCode].
func (a SessionsAPI) CreateCode(ctx context.Context) (SignInCode, error) {
	return fetch[SignInCode](ctx, a.sessions.transport, post(nil, a.sessions.path, current, "codes"))
}

// SignInWithCode opens a session for the person who created the code, and returns a client for this session.
func SignInWithCode(ctx context.Context, baseURL, code string, options ...Option) (*Client, Session, error) {
	return signIn(ctx, baseURL, options, document("session", "", map[string]string{"code": code}), "sessions")
}

// Resume returns a client for an open session. The token comes from signing in. Resume sends no request.
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
