package signalbox

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// RunStats counts the runs of all jobs by result.
type RunStats struct {
	Resource
	// Hours has one entry for each hour, the oldest first and the current one last.
	Hours []RunHour `json:"hours"`
	// Complete is false if there are more runs than the server counts; the oldest hours are then too low.
	Complete bool `json:"complete"`
}

// RunHour counts the runs that were queued in one hour by result.
type RunHour struct {
	At        time.Time `json:"at"`
	Succeeded int       `json:"succeeded"`
	Failed    int       `json:"failed"`
	Canceled  int       `json:"canceled"`
}

// Stats counts the runs of all jobs in the last hours, the current one included. hours is 1 to 168; 0 means 24.
func (a RunsAPI) Stats(ctx context.Context, hours int) (RunStats, error) {
	r := get(a.runs.path, "stats")
	if hours != 0 {
		r.query = url.Values{"hours": {strconv.Itoa(hours)}}
	}
	return fetch[RunStats](ctx, a.runs.transport, r)
}
