package signalbox

import (
	"context"
	"net/http"
)

// Ready returns nil if the server at a base URL can serve requests: its database answers and has the right schema. It
// needs no key.
func Ready(ctx context.Context, baseURL string, options ...Option) error {
	t, err := newTransport(baseURL, options)
	if err != nil {
		return err
	}
	_, err = t.call(ctx, request{method: http.MethodGet, root: "/api", segments: []string{"readiness"}}, nil)
	return err
}
