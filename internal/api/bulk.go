package api

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/observations"
)

// maxBulkItems bounds one bulk report, and thus how long other requests wait for
// it.
const maxBulkItems = 10_000

// rejectedItem is an item of a bulk report that was skipped.
type rejectedItem struct {
	Index  int    `json:"index"`
	Detail string `json:"detail"`
}

// bulkOutcome is the answer to a bulk report. It has no envelope on purpose.
type bulkOutcome struct {
	Registered int       `json:"registered"`
	Meta       *bulkMeta `json:"meta,omitempty"`
}

type bulkMeta struct {
	Rejected []rejectedItem `json:"rejected"`
}

// report passes the items of the body's array to a service. Items that cannot be
// read, or that the service rejects, are skipped and listed in the answer.
func report[T any](a *API, array string, read func(*jsonapi.Object) T, keep func(context.Context, accounts.Caller, []T) (observations.Outcome, error)) handler {
	return func(c *call) (reply, error) {
		texts, err := a.bulkItems(c, array)
		if err != nil {
			return reply{}, err
		}
		var items []T
		var places []int
		var rejected []rejectedItem
		err = a.Slots.Take(c.ctx(), len(texts), func() error {
			items, places, rejected = readItems(texts, read, c.writer.strict)
			return nil
		})
		if err != nil {
			return reply{}, err
		}
		outcome, err := keep(c.ctx(), c.caller, items)
		if err != nil {
			return reply{}, err
		}
		for _, each := range outcome.Rejected {
			rejected = append(rejected, rejectedItem{Index: places[each.Index], Detail: each.Detail})
		}
		answer := bulkOutcome{Registered: outcome.Registered}
		if len(rejected) > 0 {
			slices.SortFunc(rejected, func(x, y rejectedItem) int { return cmp.Compare(x.Index, y.Index) })
			answer.Meta = &bulkMeta{Rejected: rejected}
		}
		return ok(answer)
	}
}

// readItems returns the readable items, the index of each in the report, and the
// rejected items. If strict, items with unknown members are rejected too.
func readItems[T any](texts []json.RawMessage, read func(*jsonapi.Object) T, strict bool) (items []T, places []int, rejected []rejectedItem) {
	items, places = make([]T, 0, len(texts)), make([]int, 0, len(texts))
	for index, text := range texts {
		object, isObject := jsonapi.ParseItem(text)
		if !isObject {
			rejected = append(rejected, rejectedItem{Index: index, Detail: "The item must be an object."})
			continue
		}
		if strict {
			object.Track()
		}
		item := read(object)
		problems := object.Done(strict)
		if err := problems.Err(); err != nil {
			rejected = append(rejected, rejectedItem{Index: index, Detail: joined("", err)})
			continue
		}
		items, places = append(items, item), append(places, index)
	}
	return items, places, rejected
}

// joined appends the sentences of refusals to text.
func joined(text string, err error) string {
	for _, refusal := range fault.All(err) {
		text += " " + refusal.Detail
	}
	return strings.TrimSpace(text)
}

// bulkItems reads the array of a bulk report. It confirms the caller after the body has arrived, because a report without
// news runs no transaction that would confirm the caller.
func (a *API) bulkItems(c *call, name string) ([]json.RawMessage, error) {
	text, err := c.text()
	if err != nil {
		return nil, err
	}
	if c.caller, err = a.Accounts.Confirm(c.ctx(), c.caller); err != nil {
		return nil, err
	}
	body, err := jsonapi.ParseReport(text, name)
	if err != nil {
		return nil, err
	}
	items, sent := body.Array(name).Get()
	switch {
	case !sent:
		body.Refuse(name, "is required and must be an array")
	case len(items) > maxBulkItems:
		body.Refuse(name, "must have at most "+strconv.Itoa(maxBulkItems)+" items; send the rest in another request")
	}
	problems := body.Done(c.writer.strict)
	return items, problems.Err()
}
