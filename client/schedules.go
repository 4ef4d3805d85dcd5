package signalbox

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// ScheduleKind is what a schedule is.
type ScheduleKind string

// The kinds of schedules.
const (
	ScheduleKindCron     ScheduleKind = "cron"
	ScheduleKindDatetime ScheduleKind = "datetime"
	ScheduleKindNow      ScheduleKind = "now"
)

// SchedulePreview is when a schedule fires. Its id is the schedule.
type SchedulePreview struct {
	Resource
	Kind ScheduleKind `json:"kind"`
	// Next are the next instants in UTC, the earliest first; a one-off has one.
	Next []time.Time `json:"next"`
}

// PreviewSchedule returns the next instants that an enabled job with a schedule would fire for: up to count, which is 1 to
// 100, and 5 when it is 0. What a job may not have as its schedule is refused: see [IsInvalidParameter].
func (a JobsAPI) PreviewSchedule(ctx context.Context, schedule string, count int) (SchedulePreview, error) {
	r := get("schedules", "preview")
	r.query = url.Values{"schedule": {schedule}}
	if count != 0 {
		r.query.Set("count", strconv.Itoa(count))
	}
	return fetch[SchedulePreview](ctx, a.jobs.transport, r)
}
