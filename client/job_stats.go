package signalbox

import (
	"context"
	"net/url"
	"strconv"
)

// JobStats are what became of the runs of a job. Its id is the job's.
type JobStats struct {
	Resource
	// Days has one entry for each day, the oldest first and today last.
	Days []JobDay `json:"days"`
}

// JobDay is what became of the runs that were queued on a day.
type JobDay struct {
	// Date is YYYY-MM-DD in UTC.
	Date      string `json:"date"`
	Succeeded int    `json:"succeeded"`
	Failed    int    `json:"failed"`
	Canceled  int    `json:"canceled"`
	// P50Millis, P95Millis and MaxMillis are how long runs took that succeeded or failed; nil when there is none.
	P50Millis *int64 `json:"p50_ms"`
	P95Millis *int64 `json:"p95_ms"`
	MaxMillis *int64 `json:"max_ms"`
}

// Stats returns what became of the runs of a job in the last days, today included: 1 to 90 of them, and 30 when days is 0.
func (a JobsAPI) Stats(ctx context.Context, id string, days int) (JobStats, error) {
	r := get(a.jobs.path, id, "stats")
	if days != 0 {
		r.query = url.Values{"days": {strconv.Itoa(days)}}
	}
	return fetch[JobStats](ctx, a.jobs.transport, r)
}
