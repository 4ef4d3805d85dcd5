package signalbox

import (
	"context"
	"net/url"
)

// Reported is the outcome of a report.
type Reported struct {
	// Registered counts the distinct items that were kept.
	Registered int
	// Rejected are the items that were skipped.
	Rejected []Rejection
}

// Rejection is an item of a report that was skipped.
type Rejection struct {
	// Index is the item's index in the report.
	Index int `json:"index"`
	// Detail says why the item was skipped.
	Detail string `json:"detail"`
}

// SourceParams filter the sources that services have reported.
type SourceParams struct {
	Paging
	// Service and Environment are where the sources are; empty lists all.
	Service, Environment string
}

func (p SourceParams) query() url.Values {
	return filtered(p.Paging.query(), "service", p.Service, "environment", p.Environment)
}

// sourcesPath returns the path of the sources of one resource, or of all resources when id is empty.
func sourcesPath(all, path, id string) []string {
	if id == "" {
		return []string{all}
	}
	return []string{path, id, "sources"}
}

// report sends observed items in bulk. An empty report is not sent.
func report[T any](ctx context.Context, t *transport, path string, items []T) (Reported, error) {
	if len(items) == 0 {
		return Reported{}, nil
	}
	r := send(map[string]any{path: items}, path, "bulk")
	r.repeatable = true // reporting the same items twice changes nothing
	var outcome struct {
		Registered int `json:"registered"`
		Meta       struct {
			Rejected []Rejection `json:"rejected"`
		} `json:"meta"`
	}
	_, err := t.call(ctx, r, &outcome)
	return Reported{Registered: outcome.Registered, Rejected: outcome.Meta.Rejected}, err
}
