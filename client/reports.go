package signalbox

import (
	"context"
	"net/url"
)

// Reported says what became of a report.
type Reported struct {
	// Registered counts the distinct items that were kept.
	Registered int
	// Rejected are the items that were skipped.
	Rejected []Rejection
}

// Rejection is an item of a report that was skipped.
type Rejection struct {
	// Index is the item's place in the report, from 0 on.
	Index int `json:"index"`
	// Detail says what was wrong with it.
	Detail string `json:"detail"`
}

// SourceParams choose among the sources that services have reported.
type SourceParams struct {
	Paging
	// Service and Environment are what reported them; empty lists all.
	Service, Environment string
}

func (p SourceParams) query() url.Values {
	query := p.Paging.query()
	filter(query, "service", p.Service)
	filter(query, "environment", p.Environment)
	return query
}

// report sends a bulk report about a collection, under whose name it holds the
// items. A report of nothing is not sent.
func report[T any](ctx context.Context, t *transport, collection string, items []T) (Reported, error) {
	if len(items) == 0 {
		return Reported{}, nil
	}
	r := post(map[string]any{collection: items}, collection, "bulk")
	r.repeatable = true // a report says what is, however often
	var outcome struct {
		Registered int `json:"registered"`
		Meta       struct {
			Rejected []Rejection `json:"rejected"`
		} `json:"meta"`
	}
	_, err := t.call(ctx, r, &outcome)
	return Reported{Registered: outcome.Registered, Rejected: outcome.Meta.Rejected}, err
}

// sources reads one page of where a resource of a collection was reported, or
// without an id, of where all of them were.
func sources[T any, P identified[T]](ctx context.Context, t *transport, params SourceParams, ofAll, collection, id string) (Page[T], error) {
	if id == "" {
		return listed[T, P](ctx, t, params.query(), ofAll)
	}
	return listed[T, P](ctx, t, params.query(), collection, id, "sources")
}
