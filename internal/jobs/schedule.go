package jobs

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/jobs/cron"
)

// Now is the schedule that fires as soon as possible, once.
const Now = "now"

// recurrence is how often a schedule fires.
type recurrence int

const (
	unknown   recurrence = iota // it was not understood
	atOnce                      // once, as soon as possible
	atInstant                   // once
	recurring
)

// timetable is a schedule that was understood.
type timetable struct {
	recurrence recurrence
	at         time.Time     // of atInstant
	cron       cron.Schedule // of recurring
}

// readTimetable reads a schedule. instant is the text read as a date and time, if
// it is one.
func readTimetable(text string, instant time.Time, isInstant bool) (timetable, error) {
	switch {
	case strings.EqualFold(text, Now):
		return timetable{recurrence: atOnce}, nil
	case isInstant:
		return timetable{recurrence: atInstant, at: instant}, nil
	case datePattern.MatchString(text):
		return timetable{}, errors.New(dateProblem(text))
	}
	fires, err := cron.Parse(text)
	if err != nil {
		return timetable{}, err
	}
	return timetable{recurrence: recurring, cron: fires}, nil
}

// datePattern is what begins like a date; no cron expression does.
var datePattern = regexp.MustCompile(`^\d{4}-?\d{2}-?\d{2}([Tt ]\S*)?$`)

// dateProblem says why what looks like a date is no date and time.
func dateProblem(text string) string {
	switch _, clock, timed := strings.Cut(strings.ToUpper(text), "T"); {
	case !timed:
		return "after the date, the time is missing: T and hours and minutes"
	case clock == "":
		return "after the T, hours and minutes are missing"
	}
	return "there is no such date or time; the offset is Z, or hours and minutes such as +01:00"
}

// first is when a job that is enabled now fires first.
func (t timetable) first(now time.Time) time.Time {
	switch t.recurrence {
	case recurring:
		next, _ := t.cron.Next(now) // Parse has made sure that there is one
		return next
	case atInstant:
		return t.at
	case atOnce, unknown: // what was not understood never comes here
	}
	return now
}

// Origin is what a run needs to know of the job it comes from.
type Origin struct {
	Account, UID, Key, Lane string
	Deleted                 bool
}

// Due is an enabled job whose time has come.
type Due struct {
	Origin

	Schedule    string
	ScheduledAt time.Time
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
	fires, err := cron.Parse(d.Schedule)
	if err != nil { // a one-off: only recurrences are cron expressions
		return firing
	}
	if last, found := fires.Latest(now); found && last.After(d.ScheduledAt) {
		firing.ScheduledFor = last
	}
	if next, again := fires.Next(firing.ScheduledFor); again {
		firing.Next = &next
	}
	return firing
}

// Sooner is a job that is to fire sooner than is stored.
type Sooner struct {
	Due

	Next time.Time
}

// Earlier gives the next instant of a recurring job whose stored one lies beyond
// it, as it does after a clock went ahead and came back; nil when all is well.
func (d Due) Earlier(now time.Time) *time.Time {
	fires, err := cron.Parse(d.Schedule)
	if err != nil {
		return nil
	}
	next, found := fires.Next(now)
	if !found || !next.Before(d.ScheduledAt) {
		return nil
	}
	return &next
}
