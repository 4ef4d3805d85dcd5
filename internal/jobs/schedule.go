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

// timetable is a parsed schedule: one instant, a recurrence, or now when it has
// neither.
type timetable struct {
	instant *time.Time
	cron    *cron.Schedule
}

// maxLateness is how long an instant may have passed: clocks differ and requests
// take a moment.
const maxLateness = time.Minute

// readSchedule parses a schedule, or returns the rule that it breaks. instant is
// the schedule read as a date and time, if it is one.
func readSchedule(text string, instant *time.Time) (times timetable, broken string) {
	if text == "" {
		return timetable{}, "is required: a date and time, five cron fields, or now"
	}
	times, err := readTimetable(text, instant)
	if err != nil {
		return timetable{}, "must be a date and time such as 2030-01-31T08:00:00Z, five cron fields, or now: " + err.Error()
	}
	return times, ""
}

func readTimetable(text string, instant *time.Time) (timetable, error) {
	switch {
	case strings.EqualFold(text, Now):
		return timetable{}, nil
	case instant != nil:
		return timetable{instant: instant}, nil
	case datePattern.MatchString(text):
		return timetable{}, errors.New(dateProblem(text))
	}
	schedule, err := cron.Parse(text)
	return timetable{cron: &schedule}, err
}

// datePattern matches what looks like a date; no cron expression does.
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

// passed returns the rule that a schedule breaks whose instant has passed, or "".
func (t timetable) passed(now time.Time) string {
	if t.instant == nil || !t.instant.Before(now.Add(-maxLateness)) {
		return ""
	}
	return fmt.Sprintf("must not be more than %d seconds in the past while the job is enabled; it is %s now",
		int(maxLateness.Seconds()), now.Format(time.RFC3339))
}

// first returns when a job that is enabled now fires first.
func (t timetable) first(now time.Time) time.Time {
	switch {
	case t.cron != nil:
		next, _ := t.cron.Next(now) // Parse ensures that there is one
		return next
	case t.instant != nil:
		return *t.instant
	}
	return now
}

// isOver reports whether a one-off has had its time.
func (t timetable) isOver(now time.Time) bool {
	return t.cron == nil && (t.instant == nil || !t.instant.After(now))
}

// Origin is what a run needs of its job.
type Origin struct {
	Account, UID, Key, Lane string
	Deleted                 bool
}

// Due is an enabled job and the instant it fires for next.
type Due struct {
	Origin

	Schedule    string
	ScheduledAt time.Time
}

// Firing is a due job with the instant that it fires for and the next one, nil
// for a one-off, which disables itself.
type Firing struct {
	Due

	ScheduledFor time.Time
	Next         *time.Time
}

// Fire returns for which instant a due job fires: of several that were missed,
// the latest.
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

// Sooner is a job that must fire earlier than is stored.
type Sooner struct {
	Due

	Next time.Time
}

// Earlier returns the next instant of a recurring job if the stored one is later,
// as after a clock went ahead and came back, or nil.
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
