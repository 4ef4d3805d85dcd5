package jobs

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/jobs/cron"
)

// Now is the schedule that fires as soon as possible, once.
const Now = "now"

// timetable is a parsed schedule: an instant, a cron expression, or "now" if both are
// nil.
type timetable struct {
	instant *time.Time
	cron    *cron.Zoned
}

// maxLateness is how far in the past an instant may be: clocks differ and requests
// take a moment.
const maxLateness = time.Minute

// Instant is a schedule parsed as a date and time.
type Instant struct {
	At time.Time
	// Local says that the text has no offset: At is the local time of the job's zone, given in UTC.
	Local bool
}

// in returns the instant as it is in a zone.
func (i Instant) in(zone *time.Location) time.Time {
	if !i.Local {
		return i.At
	}
	return cron.FirstAt(i.At, zone)
}

// readSchedule parses a schedule of a zone, or returns the rule that it breaks. instant is
// the schedule parsed as a date and time, if it is one.
func readSchedule(text string, instant *Instant, zone *time.Location) (times timetable, broken string) {
	if text == "" {
		return timetable{}, "is required: a date and time, five cron fields, or now"
	}
	times, err := readTimetable(text, instant, zone)
	if err != nil {
		return timetable{}, "must be a date and time such as 2030-01-31T08:00:00Z, five cron fields, or now: " + err.Error()
	}
	return times, ""
}

func readTimetable(text string, instant *Instant, zone *time.Location) (timetable, error) {
	switch {
	case strings.EqualFold(text, Now):
		return timetable{}, nil
	case instant != nil && instant.in(zone).Year() <= 9999: // later, it has no RFC 3339 form in UTC
		return timetable{instant: new(instant.in(zone))}, nil
	case datePattern.MatchString(text):
		return timetable{}, errors.New(dateProblem(text))
	}
	schedule, err := cron.Parse(text)
	return timetable{cron: new(schedule.In(zone))}, err
}

// datePattern matches texts that look like a date. It matches no cron expression.
var datePattern = regexp.MustCompile(`^\d{4}-?\d{2}-?\d{2}([Tt ]\S*)?$`)

// dateProblem returns why a text that looks like a date is not a date and time.
func dateProblem(text string) string {
	switch _, clock, timed := strings.Cut(strings.ToUpper(text), "T"); {
	case !timed:
		return "after the date, the time is missing: T and hours and minutes"
	case clock == "":
		return "after the T, hours and minutes are missing"
	}
	return "there is no such date or time; the offset is Z, or hours and minutes such as +01:00"
}

// passed returns the broken rule if the schedule's instant is too far in the past, or "".
func (t timetable) passed(now time.Time) string {
	if t.instant == nil || !t.instant.Before(now.Add(-maxLateness)) {
		return ""
	}
	return fmt.Sprintf("must not be more than %d seconds in the past while the job is enabled; it is %s now",
		int(maxLateness.Seconds()), now.Format(time.RFC3339))
}

// first returns the first fire time of a job that is enabled now.
func (t timetable) first(now time.Time) time.Time {
	switch {
	case t.cron != nil:
		next, _ := t.cron.Next(now) // Parse ensures that there is a next one
		return next
	case t.instant != nil:
		return *t.instant
	}
	return now
}

// isOver reports whether the instant of a one-off has passed.
func (t timetable) isOver(now time.Time) bool {
	return t.cron == nil && (t.instant == nil || !t.instant.After(now))
}

// Origin is the part of a job that its runs need.
type Origin struct {
	Account, UID, Key, Lane string
	Overlap                 Overlap
	Deleted                 bool
}

// Due is an enabled job and its next instant.
type Due struct {
	Origin

	Schedule    string
	Timezone    *string
	ScheduledAt time.Time
}

// cron returns the cron expression of a recurring job in its zone, or false for a one-off.
func (d Due) cron(zones *Zones) (cron.Zoned, bool) {
	fires, err := cron.Parse(d.Schedule)
	if err != nil { // only recurrences are cron expressions
		return cron.Zoned{}, false
	}
	return fires.In(zones.Load(d.Timezone)), true
}

// Firing is a due job with the instant that it fires for and the next instant. Next
// is nil for a one-off, which disables itself.
type Firing struct {
	Due

	ScheduledFor time.Time
	Next         *time.Time
}

// Fire returns the firing of a due job. If several instants were missed, it fires for
// the latest only.
func (d Due) Fire(now time.Time, zones *Zones) Firing {
	firing := Firing{Due: d, ScheduledFor: d.ScheduledAt}
	fires, recurs := d.cron(zones)
	if !recurs {
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

// Sooner is a job that must fire before its stored instant.
type Sooner struct {
	Due

	Next time.Time
}

// Earlier returns the next instant of a job if it is before the stored one, or nil. That happens after
// a clock was ahead and was set back. A one-off for a date keeps it.
func (d Due) Earlier(now time.Time, zones *Zones) *time.Time {
	if strings.EqualFold(d.Schedule, Now) && now.Before(d.ScheduledAt) {
		return &now
	}
	fires, recurs := d.cron(zones)
	if !recurs {
		return nil
	}
	next, found := fires.Next(now)
	if !found || !next.Before(d.ScheduledAt) {
		return nil
	}
	return &next
}
