// Package page has the two kinds of pages of a list: numbered pages, and pages that continue
// after a cursor. Package jsonapi reads page requests from a URL, and the store turns them into
// SQL.
package page

// The limits of a page are the same for every list.
const (
	MaxSize           = 1000
	DefaultSize       = 1000
	DefaultCursorSize = 50
)

// Order is one criterion of a sort.
type Order struct {
	Field      string
	Descending bool
}

// Request asks for one numbered page of a sorted list.
type Request struct {
	Number int // 1-based
	Size   int
	Sort   []Order
	// Total also requests the count of all matches, which costs another query.
	Total bool
}

// Offset returns the number of rows before the page.
func (r Request) Offset() int { return (r.Number - 1) * r.Size }

// First returns a request for the first page.
func First() Request { return Request{Number: 1, Size: DefaultSize} }

// List is one numbered page.
type List[T any] struct {
	Items []T
	// Total is the count of all matches. It is set only if the request asked for it.
	Total int
}

// Pages returns how many pages of this size all matches need.
func (l List[T]) Pages(size int) int { return (l.Total + size - 1) / size }

// Cursor requests the part of an endless list that follows After.
type Cursor struct {
	After string // empty for the start of the list
	Size  int
}

// Tail is one page of an endless list.
type Tail[T any] struct {
	Items []T
	// More reports whether there are items after the last one.
	More bool
}

// Cut returns a Tail of at most size items. Callers pass up to size+1 items: one more than size
// shows that there are more.
func Cut[T any](items []T, size int) Tail[T] {
	if len(items) > size {
		return Tail[T]{Items: items[:size], More: true}
	}
	return Tail[T]{Items: items}
}

// All reads all pages of a list in its default order.
func All[T any](read func(Request) (List[T], error)) ([]T, error) {
	var items []T
	for request := First(); ; request.Number++ {
		list, err := read(request)
		if err != nil {
			return nil, err
		}
		items = append(items, list.Items...)
		if len(list.Items) < request.Size {
			return items, nil
		}
	}
}
