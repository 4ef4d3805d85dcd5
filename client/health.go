package signalbox

import (
	"context"
	"fmt"
	"net/http"
)

// Ready returns nil if the server at a base URL can serve requests: its database answers and has the right schema. It
// needs no key.
func Ready(ctx context.Context, baseURL string, options ...Option) error {
	t, err := newTransport(baseURL, options)
	if err != nil {
		return err
	}
	r := request{method: http.MethodGet, root: "/api", segments: []string{"readiness"}}
	var said struct {
		Meta struct {
			Status string `json:"status"`
		} `json:"meta"`
	}
	if _, err := t.call(ctx, r, &said); err != nil {
		return err
	}
	if said.Meta.Status != "ready" { // another program that answers every path with 200
		return fmt.Errorf("%s: the response is not that of a Signalbox server", r.name())
	}
	return nil
}
