package signalbox

import (
	"context"
	"net/http"
)

// Ready asks the server at a base URL whether it can serve requests: its database answers and has the schema it needs. It
// needs no key. nil is yes.
func Ready(ctx context.Context, baseURL string, options ...Option) error {
	t, err := newTransport(baseURL, options)
	if err != nil {
		return err
	}
	_, err = t.call(ctx, request{method: http.MethodGet, root: "/api", segments: []string{"readiness"}}, nil)
	return err
}
