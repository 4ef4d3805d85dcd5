package api

import (
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/page"
)

// tail answers with a page that continues after a cursor and the link to the
// page after it.
func (r resource[T, D, F]) tail(a *API, c *call, size int, tail page.Tail[T]) (reply, error) {
	var next *string
	if tail.More {
		last, _ := r.render(tail.Items[len(tail.Items)-1])
		next = new(a.nextPage(c, last, size))
	}
	return ok(jsonapi.NewStream(tail.Items, size, next, r.document))
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
