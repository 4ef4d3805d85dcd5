package signalbox

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"strconv"
)

// CursorPage is one page of a list that grows at its beginning.
type CursorPage[T any] struct {
	// Items are the resources; there may be none.
	Items []T
	// Size is the page size that the server used.
	Size int
	// Next is the After parameter of the next page; empty on the last page.
	Next string
}

// cursorParams are the parameters of a list with a cursor.
type cursorParams interface{ query() url.Values }

func (c collection[T, P]) listAfter(ctx context.Context, params cursorParams) (CursorPage[T], error) {
	return cursorPage[T, P](ctx, c.transport, params.query(), c.path)
}

func (c collection[T, P]) allAfter(ctx context.Context, params cursorParams) iter.Seq2[T, error] {
	return allCursors[T, P](ctx, c.transport, params, c.path)
}

// allCursors iterates over all items, starting at the page of params. A page without a link to the next is the last.
func allCursors[T any, P identified[T]](ctx context.Context, t *transport, params cursorParams, segments ...string) iter.Seq2[T, error] {
	return walk("", func(after string) ([]T, string, bool, error) {
		query := params.query()
		if after != "" {
			query.Set("page[after]", after)
		}
		page, err := cursorPage[T, P](ctx, t, query, segments...)
		return page.Items, page.Next, page.Next != "", err
	})
}

// cursorQuery selects a page of a list with a cursor.
func cursorQuery(size int, after string) url.Values {
	query := url.Values{}
	if size != 0 {
		query.Set("page[size]", strconv.Itoa(size))
	}
	if after != "" {
		query.Set("page[after]", after)
	}
	return query
}

// cursorPage reads one page of a list with a cursor.
func cursorPage[T any, P identified[T]](ctx context.Context, t *transport, query url.Values, segments ...string) (CursorPage[T], error) {
	r := get(segments...)
	r.query = query
	var received struct {
		Data []item[T] `json:"data"`
		Meta struct {
			PageSize int `json:"page_size"`
		} `json:"meta"`
		Links struct {
			Next *string `json:"next"`
		} `json:"links"`
	}
	if _, err := t.call(ctx, r, &received); err != nil {
		return CursorPage[T]{}, err
	}
	if received.Data == nil {
		return CursorPage[T]{}, fmt.Errorf("%s: %w: %w", r.name(), ErrNotSignalbox, errNoList)
	}
	next, err := cursor(received.Links.Next)
	if err != nil {
		return CursorPage[T]{}, fmt.Errorf("%s: %w", r.name(), err)
	}
	return CursorPage[T]{Items: itemsOf[T, P](received.Data), Size: received.Meta.PageSize, Next: next}, nil
}

// cursor returns the cursor in the link to the next page. The link itself is not followed: it has the server's public
// address, which may differ from this client's base URL, and the key must not be sent to another host.
func cursor(next *string) (string, error) {
	if next == nil {
		return "", nil
	}
	link, err := url.Parse(*next)
	if err != nil {
		return "", fmt.Errorf("parsing the link to the next page: %w", err)
	}
	after := link.Query().Get("page[after]")
	if after == "" {
		return "", fmt.Errorf("the link to the next page, %s, has no page[after]", link.Redacted())
	}
	return after, nil
}
