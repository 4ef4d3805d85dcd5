package api

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/bulk"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jsonapi"
)

// maxBulkItems bounds one bulk report, and so how long it may keep others
// waiting.
const maxBulkItems = 10_000

// rejectedItem is an item of a bulk report that was skipped.
type rejectedItem struct {
	Index  int    `json:"index"`
	Detail string `json:"detail"`
}

// bulkOutcome is the answer to a bulk report. It is no envelope, on purpose.
type bulkOutcome struct {
	Registered int       `json:"registered"`
	Meta       *bulkMeta `json:"meta,omitempty"`
}

type bulkMeta struct {
	Rejected []rejectedItem `json:"rejected"`
}

// reported answers a bulk report. Bad items are skipped, while they are read or
// when the domain looks at them, and listed.
func reported[T any](c *call, name string, read func(json.RawMessage) (T, error),
	report func(context.Context, accounts.Caller, []T) (bulk.Outcome, error),
) (reply, error) {
	texts, err := c.bulkItems(name)
	if err != nil {
		return failed(err)
	}
	items, places, rejected := readItems(texts, read)
	outcome, err := report(c.ctx(), c.caller, items)
	if err != nil {
		return failed(err)
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

// readItems gives the items that can be read, the place of each in the report,
// and those that cannot.
func readItems[T any](texts []json.RawMessage, read func(json.RawMessage) (T, error)) (items []T, places []int, rejected []rejectedItem) {
	items, places = make([]T, 0, len(texts)), make([]int, 0, len(texts))
	for index, text := range texts {
		item, err := read(text)
		if err != nil {
			rejected = append(rejected, rejectedItem{Index: index, Detail: details(err)})
			continue
		}
		items, places = append(items, item), append(places, index)
	}
	return items, places, rejected
}

// bulkItem reads an item of a report, which is an object.
func bulkItem(text json.RawMessage) (*jsonapi.Object, error) {
	item, isObject := jsonapi.ParseItem(text)
	if !isObject {
		return nil, fault.New(fault.Validation, "The item must be an object.")
	}
	return item, nil
}

// details joins the sentences of an item's problems.
func details(err error) string {
	var sentences []string
	for _, refusal := range fault.All(err) {
		sentences = append(sentences, refusal.Detail)
	}
	return strings.Join(sentences, " ")
}

// bulkItems reads the array that a bulk report consists of.
func (c *call) bulkItems(name string) ([]json.RawMessage, error) {
	body, err := c.object()
	if err != nil {
		return nil, err
	}
	items, sent := body.Array(name).Get()
	if !sent {
		body.Refuse(name, "is required and must be an array")
		return nil, body.Problems().Err()
	}
	if len(items) > maxBulkItems {
		body.Refuse(name, "must have at most "+strconv.Itoa(maxBulkItems)+" items; send the rest in another request")
		return nil, body.Problems().Err()
	}
	return items, nil
}
