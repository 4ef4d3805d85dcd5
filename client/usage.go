package signalbox

import (
	"context"
	"net/url"
)

// Unlimited is the value of a limit that does not exist.
const Unlimited = -1

// Usage is the account's usage of its jobs plan in a month, and the size of its history.
type Usage struct {
	Resource
	// Period is the month, as YYYY-MM in UTC.
	Period string `json:"period"`
	// RunsUsed counts the runs that started in the month; RunsIncluded is the plan's limit.
	RunsUsed     int `json:"runs_used"`
	RunsIncluded int `json:"runs_included"`
	// ActiveJobs counts the jobs that are enabled now; ActiveJobsLimit is the plan's limit.
	ActiveJobs      int `json:"active_jobs"`
	ActiveJobsLimit int `json:"active_jobs_limit"`
	// HistoryBytes is the size of the documents (before and after) of the account's changes now; HistoryBytesLimit is the
	// maximum.
	HistoryBytes      int64 `json:"history_bytes"`
	HistoryBytesLimit int64 `json:"history_bytes_limit"`
}

// UsageAPI reads the account's usage of its jobs plan.
type UsageAPI struct{ transport *transport }

// Get returns the usage of a month, as YYYY-MM; empty is the current month.
func (a UsageAPI) Get(ctx context.Context, period string) (Usage, error) {
	r := get("usage")
	r.query = filtered(url.Values{}, "period", period)
	return fetch[Usage](ctx, a.transport, r)
}
