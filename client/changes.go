package signalbox

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"strconv"
	"time"
)

const changesCollection = "changes"

// Change is one write that happened: what it did to which resource, and who
// did it. Its id is its number in the account, which grows with time.
type Change struct {
	Resource
	// Kind is the type of the resource, such as "environment", and Key its id.
	Kind string `json:"kind"`
	Key  string `json:"key"`
	// Action is what was done: created, updated, deleted, revoked and the like.
	Action string `json:"action"`
	// Actor is who did it.
	Actor Actor `json:"actor"`
	// Before and After are the attributes of the resource; null where there
	// was none. Secrets are not in them.
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
	// CreatedAt is when it happened.
	CreatedAt time.Time `json:"created_at"`
}

// Actor is who made a change.
type Actor struct {
	// Type is "api_key", "operator" or "system".
	Type string `json:"type"`
	// ID and Name say which one.
	ID   string `json:"id"`
	Name string `json:"name"`
}

// ChangeParams choose changes. The newest come first, always.
type ChangeParams struct {
	// Resource is kind:key of the resource they are about, such as
	// "environment:staging"; empty means all.
	Resource string
	// Actor is the id of who made them; empty means everybody.
	Actor string
	// From and To bound when they happened: From is included, To is not. A
	// zero time is an open end.
	From, To time.Time
	// Size is how many a page has, up to 1000; 0 is the server's default.
	Size int
	// After is where the page begins: Next of the page before it, or empty.
	After string
}

// ChangesAPI is the history of the account.
type ChangesAPI struct{ transport *transport }

func (p ChangeParams) query() url.Values {
	query := cursorQuery(p.Size, p.After)
	filter(query, "resource", p.Resource)
	filter(query, "actor", p.Actor)
	filterRange(query, "created_at", p.From, p.To)
	return query
}

// List gives one page of changes.
func (a ChangesAPI) List(ctx context.Context, params ChangeParams) (CursorPage[Change], error) {
	return stream[Change](ctx, a.transport, params.query(), changesCollection)
}

// All gives every change from the page of the params on, the newest first. It
// ends after the first error.
func (a ChangesAPI) All(ctx context.Context, params ChangeParams) iter.Seq2[Change, error] {
	return following(params.After, func(after string) (CursorPage[Change], error) {
		params.After = after
		return a.List(ctx, params)
	})
}

// Get gives one change by its number.
func (a ChangesAPI) Get(ctx context.Context, number int64) (Change, error) {
	return one[Change](ctx, a.transport, get(changesCollection, strconv.FormatInt(number, 10)))
}
