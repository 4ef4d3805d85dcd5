package signalbox

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Resource is what everything that is read from the server has.
type Resource struct {
	// ID names the resource in its account.
	ID string `json:"-"`
	// ETag changes with the resource; see [IfMatch]. It is empty on the items
	// of a list.
	ETag string `json:"-"`
}

func (r *Resource) identify(id, etag string) { r.ID, r.ETag = id, etag }

// identified is a pointer to a resource.
type identified[T any] interface {
	*T
	identify(id, etag string)
}

// Paging chooses a page of a list. The zero value is the first page, in the
// list's own order, as large as the server allows.
type Paging struct {
	// Number is the page, from 1 on; 0 is the first.
	Number int
	// Size is how many items a page has, up to 1000; 0 is the server's default.
	Size int
	// Sort names the fields to sort by, with "-" in front for descending.
	Sort []string
	// Total asks for the count of all items as well, which costs a little.
	Total bool
}

// Page is one page of a list.
type Page[T any] struct {
	// Items are the resources; there may be none.
	Items []T
	// Number and Size are the page that the server used.
	Number, Size int
	// Total and TotalPages count everything; nil unless they were asked for.
	Total, TotalPages *int
}

func (p Paging) query() url.Values {
	query := url.Values{}
	if p.Number != 0 {
		query.Set("page[number]", strconv.Itoa(p.Number))
	}
	if p.Size != 0 {
		query.Set("page[size]", strconv.Itoa(p.Size))
	}
	if len(p.Sort) > 0 {
		query.Set("sort", strings.Join(p.Sort, ","))
	}
	if p.Total {
		query.Set("meta[total]", "true")
	}
	return query
}

// filter sets filter[name] unless the value is empty.
func filter(query url.Values, name, value string) {
	if value != "" {
		query.Set("filter["+name+"]", value)
	}
}

// filterBool sets filter[name] unless there is no value.
func filterBool(query url.Values, name string, value *bool) {
	if value != nil {
		filter(query, name, strconv.FormatBool(*value))
	}
}

// filterRange sets filter[name] to the instants from one on and before another,
// unless both ends are open, which the zero time says.
func filterRange(query url.Values, name string, from, to time.Time) {
	if !from.IsZero() || !to.IsZero() {
		filter(query, name, "["+rangeEnd(from)+","+rangeEnd(to)+")")
	}
}

func rangeEnd(at time.Time) string {
	if at.IsZero() {
		return "*"
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// item is a resource as the server sends it.
type item[T any] struct {
	ID         string `json:"id"`
	Attributes T      `json:"attributes"`
}

func resourceOf[T any, P identified[T]](received item[T], etag string) T {
	P(&received.Attributes).identify(received.ID, etag)
	return received.Attributes
}

// errNoResource is a success that does not hold what was asked for.
var errNoResource = errors.New("the answer has no resource in it")

// one sends a request whose answer is a single resource.
func one[T any, P identified[T]](ctx context.Context, t *transport, r request) (T, error) {
	var document struct {
		Data item[T] `json:"data"`
	}
	etag, err := t.call(ctx, r, &document)
	if err == nil && document.Data.ID == "" {
		err = fmt.Errorf("%s: %w", r.name(), errNoResource)
	}
	if err != nil {
		var none T
		return none, err
	}
	return resourceOf[T, P](document.Data, etag), nil
}

// listed reads one page of a collection.
func listed[T any, P identified[T]](ctx context.Context, t *transport, query url.Values, segments ...string) (Page[T], error) {
	var document struct {
		Data []item[T] `json:"data"`
		Meta struct {
			Pagination struct {
				Page       int  `json:"page"`
				Size       int  `json:"size"`
				Total      *int `json:"total"`
				TotalPages *int `json:"total_pages"`
			} `json:"pagination"`
		} `json:"meta"`
	}
	if _, err := t.call(ctx, request{method: http.MethodGet, segments: segments, query: query}, &document); err != nil {
		return Page[T]{}, err
	}
	used := document.Meta.Pagination
	return Page[T]{
		Items: itemsOf[T, P](document.Data), Number: used.Page, Size: used.Size, Total: used.Total, TotalPages: used.TotalPages,
	}, nil
}

func itemsOf[T any, P identified[T]](received []item[T]) []T {
	items := make([]T, len(received))
	for i, each := range received {
		items[i] = resourceOf[T, P](each, "")
	}
	return items
}

// every walks over all pages from one on. A page that is not full is the last.
func every[T any](first Paging, list func(Paging) (Page[T], error)) iter.Seq2[T, error] {
	first.Number, first.Total = max(1, first.Number), false
	return walk(first, func(paging Paging) ([]T, Paging, bool, error) {
		page, err := list(paging)
		paging.Number++
		return page.Items, paging, len(page.Items) > 0 && len(page.Items) >= page.Size, err
	})
}

// walk gives the items of one page after the other. read gives those of the
// page at a place, and the place of the next page if there is one.
func walk[T, Place any](first Place, read func(Place) (items []T, next Place, more bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for at, more := first, true; more; {
			var items []T
			var err error
			if items, at, more, err = read(at); err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, each := range items {
				if !yield(each, nil) {
					return
				}
			}
		}
	}
}

// envelope is the document that a write sends.
type envelope struct {
	Data envelopeData `json:"data"`
}

type envelopeData struct {
	ID         string `json:"id,omitempty"`
	Type       string `json:"type"`
	Attributes any    `json:"attributes"`
}

func enclose(kind, id string, attributes any) envelope {
	return envelope{envelopeData{ID: id, Type: kind, Attributes: attributes}}
}

func get(segments ...string) request { return request{method: http.MethodGet, segments: segments} }

func remove(segments ...string) request {
	return request{method: http.MethodDelete, segments: segments}
}

// post is a creation: it is not repeated, because the answer to the first
// attempt may be what was lost.
func post(body any, segments ...string) request {
	return request{method: http.MethodPost, segments: segments, body: body}
}

func put(body any, segments ...string) request {
	return request{method: http.MethodPut, segments: segments, body: body}
}
