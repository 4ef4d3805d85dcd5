package api

import (
	"context"
	"net/http"

	"github.com/signalbox/signalbox/internal/accounts"
)

// events opens an event socket.
func (a *API) events(c *call) (reply, error) {
	c.query.Know("api_key", "since")
	if err := c.checkQuery(); err != nil {
		return reply{}, err
	}
	var since *string
	if query := c.request.URL.Query(); query.Has("since") {
		since = new(query.Get("since"))
	}
	err := a.Events.Open(c.writer, c.request, c.caller, since, func(ctx context.Context) (accounts.Caller, error) {
		key, err := token(c.request, listens())
		if err != nil {
			return accounts.Caller{}, err
		}
		return a.Auth.Authenticate(ctx, key, c.request.RemoteAddr)
	})
	if err != nil {
		return reply{}, err
	}
	return reply{raw: http.HandlerFunc(switched)}, nil
}

// switched records that the connection now speaks another protocol.
func switched(w http.ResponseWriter, _ *http.Request) {
	w.(*recorder).status = http.StatusSwitchingProtocols
}
