package jobs

import (
	"context"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Preview is when a job with a schedule would fire.
type Preview struct {
	Schedule string      `json:"-"`
	Kind     string      `json:"kind"` // cron, datetime or now
	Next     []time.Time `json:"next"`
}

// Preview returns the next instants, up to count, that an enabled job with a
// schedule would fire for. instant is the schedule read as a date and time, if it
// is one. A schedule that a job may not have is an InvalidParameter fault.
func (s *Service) Preview(ctx context.Context, schedule string, instant *time.Time, count int) (Preview, error) {
	schedule = strings.TrimSpace(schedule)
	times, broken := readSchedule(schedule, instant)
	return transaction.Read(ctx, s.Store, func(_ context.Context, tx ReadTx) (Preview, error) {
		if broken == "" {
			broken = times.passed(tx.Now())
		}
		if broken != "" {
			return Preview{}, fault.New(fault.InvalidParameter, "schedule %s.", broken).At(fault.Parameter("schedule"))
		}
		return Preview{Schedule: schedule, Kind: times.kind(), Next: times.next(tx.Now(), count)}, nil
	})
}

// kind returns what a schedule is called.
func (t timetable) kind() string {
	switch {
	case t.cron != nil:
		return "cron"
	case t.instant != nil:
		return "datetime"
	}
	return Now
}

// next returns up to count instants that a job fires for, from now on. A one-off
// has one.
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
