package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/page"
)

// resource describes a kind of resource. Its methods turn the methods of a service
// into handlers; special handlers are plain functions. T is the domain's type, D its
// draft and F the filter of its list. D and F may be none.
type resource[T, D, F any] struct {
	kind        string                              // the JSON:API type
	render      func(T) (id string, attributes any) // shows a resource to callers
	filter      func(*call) F                       // reads the filters of a list
	draft       func(*jsonapi.Envelope) D           // reads the body of a write
	normalizeID func(string) string                 // nil if an id has only one spelling
	mayBeBare   bool                                // bodies may have no envelope
}

type none = struct{}

// describe returns the description of a resource.
func describe[T, D, F any](kind string, render func(T) (string, any), filter func(*call) F, draft func(*jsonapi.Envelope) D) resource[T, D, F] {
	return resource[T, D, F]{kind: kind, render: render, filter: filter, draft: draft}
}

// noDraft is for resources that cannot be written.
func noDraft(*jsonapi.Envelope) none { return none{} }

// oneOf reads a filter whose value must be one of words, in any case.
func oneOf[W ~string](c *call, name string, words ...W) W {
	text, sent := c.query.Filter(name).Get()
	if !sent {
		return ""
	}
	for _, word := range words {
		if strings.EqualFold(text, string(word)) {
			return word
		}
	}
	c.query.Refuse(name, "must be "+listing(words, "or"))
	return W(text)
}

// listing joins words for a sentence: "GET, PUT and DELETE".
func listing[W ~string](words []W, conjunction string) string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = string(word)
	}
	last := len(texts) - 1
	if last == 0 {
		return texts[0]
	}
	return strings.Join(texts[:last], ", ") + " " + conjunction + " " + texts[last]
}

// list serves a numbered page.
func (r resource[T, D, F]) list(find func(context.Context, accounts.Caller, F, page.Request) (page.List[T], error)) handler {
	return func(c *call) (reply, error) {
		filter, request := r.filter(c), c.query.Page()
		if err := c.query.Err(); err != nil {
			return reply{}, err
		}
		found, err := find(c.ctx(), c.caller, filter, request)
		if err != nil {
			return reply{}, err
		}
		return ok(jsonapi.NewCollection(found, request, r.document))
	}
}

// get serves the resource that the path names.
func (r resource[T, D, F]) get(find func(ctx context.Context, caller accounts.Caller, id string) (T, error)) handler {
	return func(c *call) (reply, error) {
		found, err := find(c.ctx(), c.caller, r.id(c.id))
		return r.answer(http.StatusOK, found, err)
	}
}

// create creates a resource from the body.
func (r resource[T, D, F]) create(create func(context.Context, accounts.Caller, D) (T, error)) handler {
	shown := r.shown()
	return func(c *call) (reply, error) {
		envelope, err := r.read(c)
		if err != nil {
			return reply{}, err
		}
		envelope.Attributes.Know(shown...)
		created, err := create(c.ctx(), c.caller, r.draft(envelope))
		return r.answer(http.StatusCreated, created, err)
	}
}

// read reads the body of a write.
func (r resource[T, D, F]) read(c *call) (*jsonapi.Envelope, error) {
	if r.mayBeBare {
		return c.envelopeOrBare(r.kind)
	}
	return c.envelope(r.kind)
}

// replace replaces the resource that the path names with the body.
func (r resource[T, D, F]) replace(
	replace func(ctx context.Context, caller accounts.Caller, id string, draft D, match changes.Match[T]) (T, error),
) handler {
	shown := r.shown()
	return func(c *call) (reply, error) {
		envelope, err := r.read(c)
		if err != nil {
			return reply{}, err
		}
		envelope.Attributes.Know(shown...)
		id := r.id(c.id)
		if r.id(c.stored(envelope.ID.Or(id))) != id {
			envelope.RequireID(id)
		}
		replaced, err := replace(c.ctx(), c.caller, id, r.draft(envelope), ifMatch(c, r.document))
		return r.answer(http.StatusOK, replaced, err)
	}
}

// remove deletes the resource that the path names.
func (r resource[T, D, F]) remove(remove func(ctx context.Context, caller accounts.Caller, id string, match changes.Match[T]) error) handler {
	return func(c *call) (reply, error) {
		if err := c.checkQuery(); err != nil {
			return reply{}, err
		}
		if err := remove(c.ctx(), c.caller, r.id(c.id), ifMatch(c, r.document)); err != nil {
			return reply{}, err
		}
		return reply{status: http.StatusNoContent}, nil
	}
}

// action runs an action on the resource that the path names and answers with the
// result.
func (r resource[T, D, F]) action(act func(ctx context.Context, caller accounts.Caller, id string) (T, error)) handler {
	return func(c *call) (reply, error) {
		if err := c.nothing(); err != nil {
			return reply{}, err
		}
		result, err := act(c.ctx(), c.caller, r.id(c.id))
		return r.answer(http.StatusOK, result, err)
	}
}

// answer replies with one resource, or returns err if finding or writing it failed.
func (r resource[T, D, F]) answer(status int, found T, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	return one(status, r.document(found), nil)
}

func (r resource[T, D, F]) document(found T) jsonapi.Resource {
	id, attributes := r.render(found)
	return jsonapi.Resource{ID: id, Type: r.kind, Attributes: attributes}
}

// shown returns the names of the attributes that callers see. A strict body may have all of them, even read-only ones.
func (r resource[T, D, F]) shown() []string {
	_, attributes := r.render(*new(T))
	return jsonapi.MemberNames(attributes)
}

// id returns an id in its stored spelling.
func (r resource[T, D, F]) id(sent string) string {
	if r.normalizeID == nil {
		return sent
	}
	return r.normalizeID(sent)
}

// tail serves a page of a list that has a fixed order and continues after a cursor.
// The page has a link to the next page.
func (r resource[T, D, F]) tail(
	a *API, order string, isID func(string) bool, find func(context.Context, accounts.Caller, F, page.Cursor) (page.Tail[T], error),
) handler {
	return func(c *call) (reply, error) {
		cursor, filter := c.query.Cursor(order), r.filter(c)
		if cursor.After != "" && !isID(cursor.After) {
			c.query.Refuse("page[after]", "must be the id of a "+r.kind)
		}
		if err := c.query.Err(); err != nil {
			return reply{}, err
		}
		cursor.After = strings.ToLower(cursor.After) // as ids are stored
		found, err := find(c.ctx(), c.caller, filter, cursor)
		if err != nil {
			return reply{}, err
		}
		var next *string
		if found.More {
			last, _ := r.render(found.Items[len(found.Items)-1])
			next = new(a.nextPage(c, last, cursor.Size))
		}
		return ok(jsonapi.NewTail(found.Items, cursor.Size, next, r.document))
	}
}

// isUUID reports whether text is a UUID in the spelling of our ids, in any case.
func isUUID(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && strings.EqualFold(id.String(), text)
}

// nextPage returns the URL of the page after an item, with the same filters.
func (a *API) nextPage(c *call, after string, size int) string {
	values := c.query.Values()
	values.Set("page[after]", after)
	values.Set("page[size]", strconv.Itoa(size))
	return a.baseURL(c) + c.request.URL.EscapedPath() + "?" + values.Encode()
}

func (a *API) baseURL(c *call) string {
	if a.options.PublicURL != "" {
		return a.options.PublicURL
	}
	scheme := "http"
	if c.request.TLS != nil || strings.EqualFold(c.request.Header.Get("X-Forwarded-Proto"), "https") {
		scheme = "https"
	}
	return scheme + "://" + c.request.Host
}
