package signalbox

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Connection is a client that is connected now, to any node of the server: an event socket, a stream of a flagd provider, or a
// program that polled its levels in the last two minutes.
type Connection struct {
	Resource
	// Service and Environment are the names that the client gave when it connected, or nil; see [EventParams].
	Service     *string `json:"service"`
	Environment *string `json:"environment"`
	// Client is the beginning of the client's User-Agent.
	Client      string    `json:"client"`
	ConnectedAt time.Time `json:"connected_at"`
	// Node is the node of the server that holds the connection.
	Node string `json:"node"`
	// Seq is the number of the last change that was sent on the connection. It is up to 20 seconds old.
	Seq int64 `json:"seq"`
}

// ConnectionParams select a page of connections. The newest come first.
type ConnectionParams struct {
	// Size is the number of connections per page, up to 1000; 0 is the server's default.
	Size int
	// After is the Next of the previous page; empty selects the first page.
	After string
}

// ConnectionsAPI lists the clients that follow the changes of the account.
type ConnectionsAPI struct {
	connections collection[Connection, *Connection]
}

func (p ConnectionParams) query() url.Values { return cursorQuery(p.Size, p.After) }

// List returns one page of the open connections, the newest first. The list is up to 2 seconds old. Any role may read.
func (a ConnectionsAPI) List(ctx context.Context, params ConnectionParams) (CursorPage[Connection], error) {
	return a.connections.listAfter(ctx, params)
}

// All iterates over every open connection, the newest first, starting at the page of params. It ends after the first
// error.
func (a ConnectionsAPI) All(ctx context.Context, params ConnectionParams) iter.Seq2[Connection, error] {
	return a.connections.allAfter(ctx, params)
}
