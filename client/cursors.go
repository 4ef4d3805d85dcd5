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
	// Size is the largest number of items that the page could have had.
	Size int
	// Next is After of the next page; it is empty on the last.
	Next string
}

// cursorQuery chooses a page of a list with a cursor.
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

// stream reads one page of a list with a cursor.
func stream[T any, P identified[T]](ctx context.Context, t *transport, query url.Values, collection string) (CursorPage[T], error) {
	r := get(collection)
	r.query = query
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
	return walk(after, func(after string) ([]T, string, bool, error) {
		page, err := list(after)
		return page.Items, page.Next, page.Next != "", err
	})
}
