package api

import (
	"context"
	"net/http"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/connections"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/observations"
)

// events opens an event socket.
func (a *API) events(c *call) (reply, error) {
	c.query.Know("api_key", "since", "service", "environment", "topics")
	if err := c.query.Err(); err != nil {
		return reply{}, err
	}
	wanted, err := subscription(c.request)
	if err != nil {
		return reply{}, err
	}
	err = a.Events.Open(c.writer, c.request, c.caller, wanted, func(ctx context.Context) (accounts.Caller, error) {
		again := &call{request: c.request}
		err := a.identify(ctx, listens(), again)
		return again.caller, err
	})
	if err != nil {
		return reply{}, err
	}
	return reply{raw: http.HandlerFunc(switched)}, nil
}

// switched records the status of a connection that became a socket.
func switched(w http.ResponseWriter, _ *http.Request) {
	w.(*recorder).status = http.StatusSwitchingProtocols
}

// subscription reads the events that a client asks for, and its service and environment.
func subscription(r *http.Request) (connections.Subscription, error) {
	query := r.URL.Query()
	wanted := connections.Subscription{Peer: connections.Peer{Client: r.UserAgent()}}
	if query.Has("since") {
		wanted.Since = new(query.Get("since"))
	}
	for name, into := range map[string]**string{"service": &wanted.Service, "environment": &wanted.Environment} {
		text := query.Get(name)
		if text == "" {
			continue
		}
		if !utf8.ValidString(text) || !observations.IsLabel(text) {
			return wanted, fault.New(fault.InvalidParameter, "%s must have 1 to 255 characters and no control characters or bidirectional overrides.", name).At(fault.Parameter(name))
		}
		*into = &text
	}
	switch query.Get("topics") {
	case "":
	case "all":
		wanted.AllTopics = true
	default:
		return wanted, fault.New(fault.InvalidParameter, "topics must be all, or be left out for the events that running services need.").At(fault.Parameter("topics"))
	}
	return wanted, nil
}
