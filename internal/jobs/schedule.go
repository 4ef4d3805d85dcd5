package jobs

import (
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/jobs/cron"
)

// Now is the schedule that fires as soon as possible, once.
const Now = "now"

// timetable is a schedule that was understood: an instant, now, or a
// recurrence.
type timetable struct {
	recurs bool
	cron   cron.Schedule
	at     time.Time // zero: now
}

// readTimetable reads a schedule. instant is the text read as a date and time, if
// it is one.
func readTimetable(text string, instant time.Time, isInstant bool) (timetable, error) {
	switch {
	case strings.EqualFold(text, Now):
		return timetable{}, nil
	case isInstant:
		return timetable{at: instant}, nil
	}
	recurrence, err := cron.Parse(text)
	return timetable{recurs: true, cron: recurrence}, err
}

// first is when a job that is enabled now fires first.
func (t timetable) first(now time.Time) time.Time {
	switch {
	case t.recurs:
		next, _ := t.cron.Next(now) // Parse has made sure that there is one
		return next
	case t.at.IsZero():
		return now
	}
	return t.at
}

// Due is an enabled job whose time has come.
type Due struct {
	Account, UID, Key, Lane string
	Schedule                string
	ScheduledAt             time.Time
}

// Firing is what becomes of a job that is due: a run for one instant, and when
// it fires next; nil when it was a one-off, which disables itself.
type Firing struct {
	Due

	ScheduledFor time.Time
	Next         *time.Time
}

// Fire decides about a due job. Of the instants that were missed, a recurring
// job fires for the latest only.
func (d Due) Fire(now time.Time) Firing {
	firing := Firing{Due: d, ScheduledFor: d.ScheduledAt}
	recurrence, err := cron.Parse(d.Schedule)
	if err != nil { // a one-off: only recurrences are cron expressions
		return firing
	}
	if last, found := recurrence.Latest(now); found && last.After(d.ScheduledAt) {
		firing.ScheduledFor = last
	}
	if next, again := recurrence.Next(firing.ScheduledFor); again {
		firing.Next = &next
	}
	return firing
}
