package api

import (
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jsonapi"
)

func changeResource(change changes.Change) jsonapi.Resource {
	return jsonapi.Resource{ID: strconv.FormatInt(change.Seq, 10), Type: "change", Attributes: change}
}

func (a *API) changes(c *call) (reply, error) {
	cursor := c.query.Cursor("-created_at")
	filter := c.changeFilter()
	before := int64(0)
	if cursor.After != "" {
		before = sequence(cursor.After)
		if before == 0 {
			c.query.RefuseParameter("page[after]", "must be the id of a change")
		}
	}
	if err := c.query.Err(); err != nil {
		return failed(err)
	}
	tail, err := a.History.Changes(c.ctx(), c.caller.Account, filter, before, cursor.Size)
	if err != nil {
		return failed(err)
	}
	var next *string
	if tail.More {
		next = a.nextPage(c, strconv.FormatInt(tail.Items[len(tail.Items)-1].Seq, 10), cursor.Size)
	}
	return ok(jsonapi.NewStream(tail.Items, cursor.Size, next, changeResource))
}

func (c *call) changeFilter() changes.Filter {
	filter := changes.Filter{ActorID: c.query.Filter("actor").Or("")}
	if resource, sent := c.query.Filter("resource").Get(); sent {
		var complete bool
		if filter.Kind, filter.Key, complete = strings.Cut(resource, ":"); !complete || filter.Kind == "" {
			c.query.Refuse("resource", "must be kind:key, such as environment:staging")
		}
	}
	filter.From, filter.To = c.query.FilterRange("created_at")
	return filter
}

func (a *API) change(c *call) (reply, error) {
	id, err := c.id("seq")
	if err != nil {
		return failed(err)
	}
	seq := sequence(id)
	if seq == 0 {
		return failed(fault.Missing("change", id))
	}
	change, err := a.History.Change(c.ctx(), c.caller.Account, seq)
	return read(change, err, changeResource)
}

// sequence reads a change's number; 0 is none. One spelling only: "+1" and
// "01" are not the id of change 1.
func sequence(text string) int64 {
	seq, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seq < 1 || strconv.FormatInt(seq, 10) != text {
		return 0
	}
	return seq
}

// nextPage is the URL of the page after an item, with the same filters.
func (a *API) nextPage(c *call, after string, size int) *string {
	values := c.query.Values()
	values.Set("page[after]", after)
	values.Set("page[size]", strconv.Itoa(size))
	next := a.baseURL(c) + c.request.URL.EscapedPath() + "?" + values.Encode()
	return &next
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
