package signalbox

import (
	"context"
	"net/url"
)

// Unlimited is the value of a limit that does not exist.
const Unlimited = -1

// Usage is what the account has used of its jobs plan in a month, and what its history holds.
type Usage struct {
	Resource
	// Period is the month, as YYYY-MM in UTC.
	Period string `json:"period"`
	// RunsUsed were started in the month; RunsIncluded are in the plan.
	RunsUsed     int `json:"runs_used"`
	RunsIncluded int `json:"runs_included"`
	// ActiveJobs are enabled now; ActiveJobsLimit may be.
	ActiveJobs      int `json:"active_jobs"`
	ActiveJobsLimit int `json:"active_jobs_limit"`
	// HistoryBytes are what the account's changes hold now of what was before and after; HistoryBytesLimit may be
	// kept.
	HistoryBytes      int64 `json:"history_bytes"`
	HistoryBytesLimit int64 `json:"history_bytes_limit"`
}

// UsageAPI reads what the account has used of its jobs plan.
type UsageAPI struct{ transport *transport }

// Get returns the usage of a month, as YYYY-MM; empty is the current one.
func (a UsageAPI) Get(ctx context.Context, period string) (Usage, error) {
	r := get("usage")
	r.query = filtered(url.Values{}, "period", period)
	return fetch[Usage](ctx, a.transport, r)
}
