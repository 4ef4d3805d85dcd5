package signalbox

import (
	"context"
	"net/url"
)

const usageCollection = "usage"

// Unlimited is a limit that there is not.
const Unlimited = -1

// Usage is what the account has used of its plan's jobs in a month.
type Usage struct {
	Resource
	// Period is the month, as YYYY-MM in UTC.
	Period string `json:"period"`
	// RunsUsed were started in the month, and RunsIncluded are in the plan.
	RunsUsed     int `json:"runs_used"`
	RunsIncluded int `json:"runs_included"`
	// ActiveJobs are enabled now, and ActiveJobsLimit may be.
	ActiveJobs      int `json:"active_jobs"`
	ActiveJobsLimit int `json:"active_jobs_limit"`
}

// UsageAPI is what the account has used.
type UsageAPI struct{ transport *transport }

// Get gives the usage of a month, as YYYY-MM; empty means the current one.
func (a UsageAPI) Get(ctx context.Context, period string) (Usage, error) {
	r := get(usageCollection)
	r.query = url.Values{}
	filter(r.query, "period", period)
	return one[Usage](ctx, a.transport, r)
}
