package signalbox

import (
	"context"
	"encoding/json"
	"fmt"
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

// CursorPage is one page of a list that grows at its beginning.
type CursorPage[T any] struct {
	// Items are the resources; there may be none.
	Items []T
	// Size is the largest number of items that the page could have had.
	Size int
	// Next is After of the next page; it is empty on the last.
	Next string
}

// ChangesAPI is the history of the account.
type ChangesAPI struct{ transport *transport }

func (p ChangeParams) query() url.Values {
	query := url.Values{}
	filter(query, "resource", p.Resource)
	filter(query, "actor", p.Actor)
	if !p.From.IsZero() || !p.To.IsZero() {
		filter(query, "created_at", "["+rangeEnd(p.From)+","+rangeEnd(p.To)+")")
	}
	if p.Size != 0 {
		query.Set("page[size]", strconv.Itoa(p.Size))
	}
	if p.After != "" {
		query.Set("page[after]", p.After)
	}
	return query
}

func rangeEnd(at time.Time) string {
	if at.IsZero() {
		return "*"
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// List gives one page of changes.
func (a ChangesAPI) List(ctx context.Context, params ChangeParams) (CursorPage[Change], error) {
	r := get(changesCollection)
	r.query = params.query()
	return stream[Change](ctx, a.transport, r)
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

// stream reads one page of a list with a cursor.
func stream[T any, P identified[T]](ctx context.Context, t *transport, r request) (CursorPage[T], error) {
	var document struct {
		Data []item[T] `json:"data"`
		Meta struct {
			PageSize int `json:"page_size"`
		} `json:"meta"`
		Links struct {
			Next *string `json:"next"`
		} `json:"links"`
	}
	if _, err := t.call(ctx, r, &document); err != nil {
		return CursorPage[T]{}, err
	}
	next, err := cursor(document.Links.Next)
	if err != nil {
		return CursorPage[T]{}, fmt.Errorf("%s: %w", r.name(), err)
	}
	return CursorPage[T]{Items: itemsOf[T, P](document.Data), Size: document.Meta.PageSize, Next: next}, nil
}

// cursor takes the cursor out of the link to the next page. The link itself is
// not followed: it is the server's public address, which may not be the one
// that this client reaches it by, and the key must not go elsewhere.
func cursor(next *string) (string, error) {
	if next == nil {
		return "", nil
	}
	link, err := url.Parse(*next)
	if err != nil {
		return "", fmt.Errorf("the link to the next page cannot be read: %w", err)
	}
	after := link.Query().Get("page[after]")
	if after == "" {
		return "", fmt.Errorf("the link to the next page, %s, has no page[after]", link.Redacted())
	}
	return after, nil
}

// following walks over all pages from a cursor on.
func following[T any](after string, list func(after string) (CursorPage[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for at := after; ; {
			page, err := list(at)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, each := range page.Items {
				if !yield(each, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			at = page.Next
		}
	}
}
