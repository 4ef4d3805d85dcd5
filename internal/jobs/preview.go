package jobs

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jobs/cron"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Preview is the next instants of a schedule.
type Preview struct {
	Schedule string      `json:"-"`
	Kind     string      `json:"kind"` // cron, datetime or now
	Next     []time.Time `json:"next"`
	Local    []time.Time `json:"next_local"` // the same instants with the offset of the zone

	// ClockChange is nil for a schedule that is not cron, and for a zone without one.
	ClockChange *ClockChange `json:"clock_change"`
}

// ClockChange is the next change of a zone's clock, and the instants of a schedule around it: there a schedule of local
// times may surprise people.
type ClockChange struct {
	At     time.Time   `json:"at"`
	Shift  int         `json:"shift_seconds"` // negative: the clock is set back
	Around []time.Time `json:"around"`
	Local  []time.Time `json:"around_local"`
}

// Preview returns up to count instants at which an enabled job with a schedule would
// fire next. instant is the schedule parsed as a date and time, if it is one; no zone is
// UTC. An invalid schedule or zone is an InvalidParameter fault.
func (s *Service) Preview(ctx context.Context, schedule string, instant *Instant, timezone *string, count int) (Preview, error) {
	if timezone != nil {
		if broken := checkZone(*timezone); broken != "" {
			return Preview{}, fault.New(fault.InvalidParameter, "timezone %s.", broken).At(fault.Parameter("timezone"))
		}
	}
	schedule = strings.TrimSpace(schedule)
	zone := (*Zones)(nil).Load(timezone)
	times, broken := readSchedule(schedule, instant, zone)
	return transaction.Read(ctx, s.Store, func(_ context.Context, tx ReadTx) (Preview, error) {
		if broken == "" {
			broken = times.passed(tx.Now())
		}
		if broken != "" {
			return Preview{}, fault.New(fault.InvalidParameter, "schedule %s.", broken).At(fault.Parameter("schedule"))
		}
		next := times.next(tx.Now(), count)
		return Preview{Schedule: schedule, Kind: times.kind(), Next: next, Local: inZone(next, zone), ClockChange: times.clockChange(tx.Now(), zone)}, nil
	})
}

// clockChange returns the next change of a zone's clock with up to two instants before it and three after it.
func (t timetable) clockChange(now time.Time, zone *time.Location) *ClockChange {
	at, shift, found := cron.NextChange(now, zone)
	if t.cron == nil || !found {
		return nil
	}
	const before, after = 2, 3
	around, latest := []time.Time{}, at
	for len(around) < before {
		instant, exists := t.cron.Latest(latest.Add(-time.Nanosecond))
		if !exists || !instant.After(now) {
			break
		}
		around, latest = slices.Insert(around, 0, instant), instant
	}
	next := at.Add(-time.Nanosecond)
	for range after {
		instant, exists := t.cron.Next(next)
		if !exists {
			break
		}
		around, next = append(around, instant), instant
	}
	return &ClockChange{At: at, Shift: int(shift.Seconds()), Around: around, Local: inZone(around, zone)}
}

func inZone(instants []time.Time, zone *time.Location) []time.Time {
	local := make([]time.Time, len(instants))
	for i, at := range instants {
		local[i] = at.In(zone)
	}
	return local
}

// kind returns the kind of a schedule as the API names it.
func (t timetable) kind() string {
	switch {
	case t.cron != nil:
		return "cron"
	case t.instant != nil:
		return "datetime"
	}
	return Now
}

// next returns up to count instants from now on. A one-off has one.
func (t timetable) next(now time.Time, count int) []time.Time {
	instants := []time.Time{t.first(now)}
	for t.cron != nil && len(instants) < count {
		following, found := t.cron.Next(instants[len(instants)-1])
		if !found {
			break
		}
		instants = append(instants, following)
	}
	return instants
}
