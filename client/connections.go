package signalbox

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Connection is an event socket that is open now, on any node of the server.
type Connection struct {
	Resource
	// Service and Environment are what it said when it connected, nil if nothing; see [EventParams].
	Service     *string `json:"service"`
	Environment *string `json:"environment"`
	// Client is the beginning of its User-Agent.
	Client      string    `json:"client"`
	ConnectedAt time.Time `json:"connected_at"`
	// Node is the one that it is connected to.
	Node string `json:"node"`
	// Seq is the number of the last change that it was sent, up to 20 seconds late.
	Seq int64 `json:"seq"`
}

// ConnectionParams select a page of connections. The newest come first.
type ConnectionParams struct {
	// Size is the number of connections per page, up to 1000; 0 is the server's default.
	Size int
	// After is Next of the page before; empty is the first page.
	After string
}

// ConnectionsAPI lists who follows the events of the account.
type ConnectionsAPI struct {
	connections collection[Connection, *Connection]
}

func (p ConnectionParams) query() url.Values { return cursorQuery(p.Size, p.After) }

// List returns one page of the connections that are open now, the newest first, up to 2 seconds late. Any role may
// read.
func (a ConnectionsAPI) List(ctx context.Context, params ConnectionParams) (CursorPage[Connection], error) {
	return a.connections.listAfter(ctx, params)
}

// All iterates over every connection that is open now, the newest first, from the page of params on. It ends after the
// first error.
func (a ConnectionsAPI) All(ctx context.Context, params ConnectionParams) iter.Seq2[Connection, error] {
	return a.connections.allAfter(ctx, params)
}
