package api

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/fault"
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

// batch keeps account of a bulk report whose bad items are skipped while they
// are read or when the domain looks at them.
type batch struct {
	kept     []int // index in the report of each item that was read
	rejected []rejectedItem
}

// newBatch reads every item.
func newBatch(items []json.RawMessage, read func(json.RawMessage) error) *batch {
	b := &batch{}
	for index, text := range items {
		if err := read(text); err != nil {
			b.rejected = append(b.rejected, rejectedItem{Index: index, Detail: details(err)})
			continue
		}
		b.kept = append(b.kept, index)
	}
	return b
}

// refuse notes that the domain skipped an item, by its index among those read.
func (b *batch) refuse(index int, detail string) {
	b.rejected = append(b.rejected, rejectedItem{Index: b.kept[index], Detail: detail})
}

func (b *batch) outcome(registered int) bulkOutcome {
	if len(b.rejected) == 0 {
		return bulkOutcome{Registered: registered}
	}
	slices.SortFunc(b.rejected, func(x, y rejectedItem) int { return cmp.Compare(x.Index, y.Index) })
	return bulkOutcome{Registered: registered, Meta: &bulkMeta{Rejected: b.rejected}}
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
