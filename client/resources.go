package signalbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Resource is the common part of everything read from the server.
type Resource struct {
	// ID identifies the resource in its account.
	ID string `json:"-"`
	// ETag changes with the resource; see [IfMatch]. It is empty on the items of a list.
	ETag string `json:"-"`
	// Notes has the server's notes about the write that returned this resource; nil for none.
	Notes *Notes `json:"-"`
}

// Notes has a server's notes about a write that it accepted.
type Notes struct {
	// Ignored are JSON pointers to the unknown members of the request; see [WithLenientServer].
	Ignored []string `json:"ignored"`
	// Warnings are about probable mistakes, such as a rule that can never be reached.
	Warnings []Warning `json:"warnings"`
	// DryRun reports that nothing was changed; see [DryRun].
	DryRun bool `json:"dry_run"`
}

// Warning is a probable mistake in a write.
type Warning struct {
	// Pointer is a JSON pointer to the mistake in the request.
	Pointer string `json:"pointer"`
	// Detail is a sentence for people.
	Detail string `json:"detail"`
}

// Timestamps are when a resource was created and last changed.
type Timestamps struct {
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func (r Resource) id() string { return r.ID }

func (r *Resource) identify(id, etag string, notes *Notes) { r.ID, r.ETag, r.Notes = id, etag, notes }

// identified is a pointer to a type that embeds Resource.
type identified[T any] interface {
	*T
	identify(id, etag string, notes *Notes)
}

// collection is one kind of resource on the server. The exported methods of the …API types call its methods.
type collection[T any, P identified[T]] struct {
	transport *transport
	kind      string // the type of the documents
	path      string // the segment below /api/v1
}

func resources[T any, P identified[T]](t *transport, kind, path string) collection[T, P] {
	return collection[T, P]{transport: t, kind: kind, path: path}
}

func (c collection[T, P]) get(ctx context.Context, id string) (T, error) {
	return fetch[T, P](ctx, c.transport, get(c.path, id))
}

func (c collection[T, P]) create(ctx context.Context, id string, draft any, options []WriteOption) (T, error) {
	return fetch[T, P](ctx, c.transport, post(document(c.kind, id, draft), c.path).with(options))
}

func (c collection[T, P]) replace(ctx context.Context, id string, draft any, options []WriteOption) (T, error) {
	return fetch[T, P](ctx, c.transport, put(document(c.kind, id, draft), c.path, id).with(options))
}

// apply replaces a resource, or creates it if there is none. If creating finds the id in use, somebody else may have
// created the resource in between, so apply replaces it. If there is still nothing to replace, another kind of resource
// has the id.
func (c collection[T, P]) apply(ctx context.Context, id string, draft any, options []WriteOption) (T, error) {
	applied, err := c.replace(ctx, id, draft, options)
	if !IsNotFound(err) {
		return applied, err
	}
	applied, taken := c.create(ctx, id, draft, options)
	if !IsAlreadyExists(taken) {
		return applied, taken
	}
	applied, err = c.replace(ctx, id, draft, options)
	if IsNotFound(err) {
		err = taken
	}
	return applied, err
}

func (c collection[T, P]) delete(ctx context.Context, id string, options []WriteOption) error {
	_, err := c.transport.call(ctx, request{method: http.MethodDelete, segments: []string{c.path, id}}.with(options), nil)
	return err
}

func (c collection[T, P]) list(ctx context.Context, params pageParams) (Page[T], error) {
	return listPage[T, P](ctx, c.transport, params.query(), c.path)
}

func (c collection[T, P]) all(ctx context.Context, params pageParams) iter.Seq2[T, error] {
	return allPages[T, P](ctx, c.transport, params, c.path)
}

// Paging selects a page of a list. The zero value is the first page in the list's default order and size.
type Paging struct {
	// Number is the page, starting with 1; 0 is the first.
	Number int
	// Size is the number of items per page, up to 1000; 0 is the server's default.
	Size int
	// Sort names the fields to sort by, with "-" in front for descending. The List methods name their fields.
	Sort []string
	// Total also requests the count of all items, which costs a little.
	Total bool
}

// SearchParams filter a list by text.
type SearchParams struct {
	Paging
	// Search is a part of the id or the name, ignoring case.
	Search string
}

// Page is one page of a list.
type Page[T any] struct {
	// Items are the resources; there may be none.
	Items []T
	// Number and Size are the page and the page size that the server used.
	Number, Size int
	// Total and TotalPages count all items; nil unless requested.
	Total, TotalPages *int
}

// pageParams are the parameters of a list. The parameters of every resource embed Paging.
type pageParams interface {
	query() url.Values
	firstPage() int
}

func (p Paging) firstPage() int { return max(1, p.Number) }

func (p SearchParams) query() url.Values { return filtered(p.Paging.query(), "search", p.Search) }

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

// filtered adds filters, given as names and values in turn, to query. Empty values are left out.
func filtered(query url.Values, namesAndValues ...string) url.Values {
	for i := 0; i < len(namesAndValues); i += 2 {
		if value := namesAndValues[i+1]; value != "" {
			query.Set("filter["+namesAndValues[i]+"]", value)
		}
	}
	return query
}

// boolFilter returns the text of a filter value; nil is none.
func boolFilter(value *bool) string {
	if value == nil {
		return ""
	}
	return strconv.FormatBool(*value)
}

// rangeFilter selects times from from (inclusive) to to (exclusive); the zero time is an open end.
func rangeFilter(from, to time.Time) string {
	if from.IsZero() && to.IsZero() {
		return ""
	}
	return "[" + rangeEnd(from) + "," + rangeEnd(to) + ")"
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
	Type       string `json:"type"`
	Attributes T      `json:"attributes"`
}

// errNoResource and errNoList are the errors for a document without a resource or list, which Signalbox never sends.
var (
	errNoResource = errors.New("there is no resource in it")
	errNoList     = errors.New("there is no list in it")
)

// fetch sends a request whose response is a single resource.
func fetch[T any, P identified[T]](ctx context.Context, t *transport, r request) (T, error) {
	var received struct {
		Data item[T] `json:"data"`
		Meta *Notes  `json:"meta"`
	}
	etag, err := t.call(ctx, r, &received)
	if err == nil && received.Data.ID == "" {
		err = fmt.Errorf("%s: %w: %w", r.name(), ErrNotSignalbox, errNoResource)
	}
	if err != nil {
		return *new(T), err
	}
	P(&received.Data.Attributes).identify(received.Data.ID, etag, received.Meta)
	return received.Data.Attributes, nil
}

// listPage reads one page of a list.
func listPage[T any, P identified[T]](ctx context.Context, t *transport, query url.Values, segments ...string) (Page[T], error) {
	var received struct {
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
	r := request{method: http.MethodGet, segments: segments, query: query}
	if _, err := t.call(ctx, r, &received); err != nil {
		return Page[T]{}, err
	}
	if received.Data == nil {
		return Page[T]{}, fmt.Errorf("%s: %w: %w", r.name(), ErrNotSignalbox, errNoList)
	}
	used := received.Meta.Pagination
	return Page[T]{
		Items: itemsOf[T, P](received.Data), Number: used.Page, Size: used.Size, Total: used.Total, TotalPages: used.TotalPages,
	}, nil
}

func itemsOf[T any, P identified[T]](received []item[T]) []T {
	items := make([]T, len(received))
	for i := range received {
		items[i] = received[i].Attributes
		P(&items[i]).identify(received[i].ID, "", nil)
	}
	return items
}

// allPages iterates over all items, starting at the page of params. It ends after a page that is not full or has no
// size.
func allPages[T any, P identified[T]](ctx context.Context, t *transport, params pageParams, segments ...string) iter.Seq2[T, error] {
	return walk(params.firstPage(), func(number int) ([]T, int, bool, error) {
		query := params.query()
		query.Set("page[number]", strconv.Itoa(number))
		query.Del("meta[total]")
		page, err := listPage[T, P](ctx, t, query, segments...)
		return page.Items, number + 1, page.Size > 0 && len(page.Items) >= page.Size, err
	})
}

// walk iterates over the items of all pages. read returns the items of a page, and the next page if there is one.
func walk[T, Page any](first Page, read func(Page) (items []T, next Page, more bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page, more := first, true; more; {
			var items []T
			var err error
			if items, page, more, err = read(page); err != nil {
				yield(*new(T), err)
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

// writeDocument is the body of a write.
type writeDocument struct {
	Data writeData `json:"data"`
}

type writeData struct {
	ID         string `json:"id,omitempty"`
	Type       string `json:"type"`
	Attributes any    `json:"attributes"`
}

func document(kind, id string, attributes any) writeDocument {
	return writeDocument{writeData{ID: id, Type: kind, Attributes: attributes}}
}

func get(segments ...string) request { return request{method: http.MethodGet, segments: segments} }

func put(body any, segments ...string) request {
	return request{method: http.MethodPut, segments: segments, body: body}
}

// post returns a request that the server carries out once, however often it is sent.
func post(body any, segments ...string) request {
	return request{method: http.MethodPost, segments: segments, body: body, once: rand.Text()}
}

// send returns a POST without an Idempotency-Key, which would cost the server a write. It is for reports and evaluations.
func send(body any, segments ...string) request {
	return request{method: http.MethodPost, segments: segments, body: body}
}
