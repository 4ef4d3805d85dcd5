package signalbox

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// ScheduleKind is the kind of a schedule.
type ScheduleKind string

// The kinds of schedules.
const (
	ScheduleKindCron     ScheduleKind = "cron"
	ScheduleKindDatetime ScheduleKind = "datetime"
	ScheduleKindNow      ScheduleKind = "now"
)

// SchedulePreview lists when a schedule fires. Its id is the schedule.
type SchedulePreview struct {
	Resource
	Kind ScheduleKind `json:"kind"`
	// Next are the next times in UTC, the earliest first; a one-off schedule has one.
	Next []time.Time `json:"next"`
	// NextLocal are the same times with the offset of the time zone.
	NextLocal []time.Time `json:"next_local"`
	// ClockChange is the next change of the zone's clock; nil for a schedule that is not cron, and for a zone without one.
	ClockChange *ClockChange `json:"clock_change"`
}

// ClockChange is a change of a zone's clock, and when a schedule fires around it.
type ClockChange struct {
	At time.Time `json:"at"`
	// ShiftSeconds is by how much the clock is moved; negative is back.
	ShiftSeconds int `json:"shift_seconds"`
	// Around has up to two times before the change and three after it. AroundLocal has them with their local offset.
	Around      []time.Time `json:"around"`
	AroundLocal []time.Time `json:"around_local"`
}

// PreviewSchedule returns the next count times at which an enabled job with this schedule would fire. count is 1 to 100; 0
// means 5. An invalid schedule is refused: see [IsInvalidParameter].
func (a JobsAPI) PreviewSchedule(ctx context.Context, schedule string, count int) (SchedulePreview, error) {
	return a.PreviewScheduleIn(ctx, schedule, "", count)
}

// PreviewScheduleIn is PreviewSchedule for a schedule of an IANA time zone; an empty one is UTC.
func (a JobsAPI) PreviewScheduleIn(ctx context.Context, schedule, timezone string, count int) (SchedulePreview, error) {
	r := get("schedules", "preview")
	r.query = url.Values{"schedule": {schedule}}
	if timezone != "" {
		r.query.Set("timezone", timezone)
	}
	if count != 0 {
		r.query.Set("count", strconv.Itoa(count))
	}
	return fetch[SchedulePreview](ctx, a.jobs.transport, r)
}
