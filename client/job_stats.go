package signalbox

import (
	"context"
	"net/url"
	"strconv"
)

// JobStats counts the runs of a job by result. Its id is the job's.
type JobStats struct {
	Resource
	// Days has one entry for each day, the oldest first and today last.
	Days []JobDay `json:"days"`
}

// JobDay counts the runs that were queued on one day by result.
type JobDay struct {
	// Date is YYYY-MM-DD in UTC.
	Date      string `json:"date"`
	Succeeded int    `json:"succeeded"`
	Failed    int    `json:"failed"`
	Canceled  int    `json:"canceled"`
	// Skipped counts the due times for which no run was created.
	Skipped int `json:"skipped"`
	// P50Millis, P95Millis and MaxMillis are the durations of succeeded and failed runs; nil when there are no such runs.
	P50Millis *int64 `json:"p50_ms"`
	P95Millis *int64 `json:"p95_ms"`
	MaxMillis *int64 `json:"max_ms"`
}

// Stats counts the runs of a job in the last days, today included. days is 1 to 90; 0 means 30.
func (a JobsAPI) Stats(ctx context.Context, id string, days int) (JobStats, error) {
	r := get(a.jobs.path, id, "stats")
	if days != 0 {
		r.query = url.Values{"days": {strconv.Itoa(days)}}
	}
	return fetch[JobStats](ctx, a.jobs.transport, r)
}
