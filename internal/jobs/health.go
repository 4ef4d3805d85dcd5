package jobs

import (
	"fmt"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
)

// KindHealth is the kind of changes of a job's health in the history.
const KindHealth = "job_health"

// HealthState is the state of a job's health.
type HealthState string

// The states; the table of transitions is in the package documentation.
const (
	HealthNew     HealthState = "new"
	HealthOK      HealthState = "ok"
	HealthFailing HealthState = "failing"
	HealthLate    HealthState = "late"
	HealthPaused  HealthState = "paused"
)

// HealthStates returns every state.
func HealthStates() []HealthState {
	return []HealthState{HealthNew, HealthOK, HealthFailing, HealthLate, HealthPaused}
}

// The actions of health events.
const (
	Failing   changes.Action = "failing"
	Late      changes.Action = "late"
	Recovered changes.Action = "recovered"
	// Reminder repeats that a job is failing or late. It does not change the health, so the history does not have it.
	Reminder changes.Action = "reminder"
)

// Health is the state of a job's health, and the counts that decide it.
type Health struct {
	State         HealthState `json:"state"`
	Since         time.Time   `json:"since"`
	Failures      int         `json:"failures"` // final ones in a row
	LastSuccessAt *time.Time  `json:"last_success_at"`

	// Successes counts successes in a row while the job is failing.
	Successes int `json:"-"`
	// LateFor is the instant that made the job late; nil if it had no success for too long.
	LateFor *time.Time `json:"-"`
}

// Unhealthy is a job that is failing or late.
type Unhealthy struct {
	Account, Key string
	State        HealthState
}

// HealthChange is a change of state that is an event.
type HealthChange struct {
	Account, Key  string
	Action        changes.Action
	Before, After Health
	// Detail says what happened, in a sentence.
	Detail string
	// Run is the run that decided it; "" for none.
	Run string
	// Host is the destination of the job.
	Host string
}

// recordedHealth is a health as the history stores it.
type recordedHealth struct {
	Health

	Detail string  `json:"detail,omitempty"`
	Run    *string `json:"run,omitempty"`
}

// Change returns the change that the history stores. Code that reacts to events of health starts here: the change is
// stored in the transaction that changes the health.
func (c HealthChange) Change() changes.Edit[any] {
	var before, after any = recordedHealth{Health: c.Before}, recordedHealth{Health: c.After, Detail: c.Detail}
	if c.Run != "" {
		after = recordedHealth{c.After, c.Detail, &c.Run}
	}
	return changes.Edit[any]{Key: c.Key, Before: &before, After: &after}
}

// to returns the health in another state.
func (h Health) to(state HealthState, at time.Time) Health {
	if h.State != state {
		h.State, h.Since = state, at
	}
	return h
}

// Pause returns the health of a job that a write disables, and Resume of one that a write enables.
func (h Health) Pause(at time.Time) Health { return h.to(HealthPaused, at) }

// Resume returns the health of a job that a write enables. Failures and successes from before the
// pause do not count.
func (h Health) Resume(at time.Time) Health {
	h = h.to(HealthNew, at)
	h.Failures, h.Successes, h.LateFor = 0, 0, nil
	return h
}

// succeed returns the health after a success of an instant at a time, and the event if the job has recovered.
func (h Health) succeed(instant, at time.Time, alerts Alerts) (Health, changes.Action) {
	h.Failures = 0
	if h.LastSuccessAt == nil || at.After(*h.LastSuccessAt) {
		h.LastSuccessAt = &at
	}
	switch h.State {
	case HealthFailing:
		if h.Successes++; h.Successes < alerts.RecoverAfter {
			return h, ""
		}
	case HealthLate:
		if h.LateFor != nil && instant.Before(*h.LateFor) {
			return h, ""
		}
	case HealthNew:
		return h.to(HealthOK, at), ""
	case HealthOK, HealthPaused:
		return h, ""
	}
	h.Successes, h.LateFor = 0, nil
	return h.to(HealthOK, at), Recovered
}

// fail returns the health after a final failure, and the event if the job is failing now.
func (h Health) fail(at time.Time, alerts Alerts) (Health, changes.Action) {
	h.Failures++
	h.Successes = 0
	if h.State != HealthNew && h.State != HealthOK || h.Failures < alerts.AfterFailures {
		return h, ""
	}
	return h.to(HealthFailing, at), Failing
}

// nextReminder returns the time of the next reminder that the job is failing or late.
func (h Health) nextReminder(every int, now time.Time) time.Time {
	interval := seconds(every)
	return h.Since.Add(max(0, now.Sub(h.Since)).Truncate(interval) + interval)
}

// isBad reports whether the job is failing or late.
func (h Health) isBad() bool { return h.State == HealthFailing || h.State == HealthLate }

// Watched is a job that is checked for lateness, and for which reminders are sent.
type Watched struct {
	Account, UID, Key string
	Host              string
	CheckAt           time.Time // when the check was due
	Enabled           bool
	CreatedAt         time.Time
	NextRunAt         *time.Time
	// Unstarted is the oldest instant whose run is pending; nil for none.
	Unstarted *time.Time
	Alerts    *Alerts
	Health    Health
}

// CheckLate returns the health of a job at a time, when to check again (nil: not before the health changes), and the
// event if the job is late now, or if it is time for a reminder.
func (w Watched) CheckLate(now time.Time) (after Health, again *time.Time, event *HealthChange) {
	switch {
	case w.Alerts != nil && w.Health.isBad():
		again, event = w.remind(now)
		return w.Health, again, event
	case w.Alerts == nil || w.Health.State != HealthNew && w.Health.State != HealthOK:
		return w.Health, nil, nil
	}
	for _, limit := range w.limits() {
		if limit.at.After(now) {
			if again == nil || limit.at.Before(*again) {
				again = &limit.at
			}
			continue
		}
		after = w.Health.to(HealthLate, now)
		after.LateFor = limit.instant
		if every := w.Alerts.RemindEvery; every != nil {
			again = new(after.nextReminder(*every, now))
		} else {
			again = nil
		}
		return after, again, &HealthChange{Account: w.Account, Key: w.Key, Host: w.Host, Action: Late, Before: w.Health, After: after, Detail: limit.detail}
	}
	return w.Health, again, nil
}

// remind returns when the next reminder is due, and the reminder if the check was for one.
func (w Watched) remind(now time.Time) (again *time.Time, event *HealthChange) {
	every := w.Alerts.RemindEvery
	if every == nil {
		return nil, nil
	}
	again = new(w.Health.nextReminder(*every, now))
	if w.CheckAt.Before(w.Health.Since.Add(seconds(*every))) {
		return again, nil
	}
	return again, &HealthChange{Account: w.Account, Key: w.Key, Host: w.Host, Action: Reminder, Before: w.Health, After: w.Health,
		Detail: fmt.Sprintf("It has been %s since %s.", w.Health.State, w.Health.Since.Format(time.RFC3339))}
}

// lateLimit is a time at which a job is late unless something happens before.
type lateLimit struct {
	at      time.Time
	instant *time.Time
	detail  string
}

func (w Watched) limits() (limits []lateLimit) {
	if after := w.Alerts.LateAfter; after != nil {
		limits = append(limits, unstarted(w.Unstarted, *after, "it is still pending")...)
		limits = append(limits, unstarted(w.NextRunAt, *after, "the server was down, or could not reach its database")...)
	}
	if longest := w.Alerts.NoSuccessFor; longest != nil && w.Enabled {
		since := w.Health.Since
		if success := w.Health.LastSuccessAt; success != nil && (w.Health.State == HealthOK || success.After(since)) {
			since = *success
		}
		limits = append(limits, lateLimit{at: since.Add(seconds(*longest)),
			detail: fmt.Sprintf("No run has succeeded for %d seconds, since %s.", *longest, since.Format(time.RFC3339))})
	}
	return limits
}

// unstarted returns the limit of an instant whose run has not started, if there is one.
func unstarted(instant *time.Time, after int, why string) []lateLimit {
	if instant == nil {
		return nil
	}
	return []lateLimit{{instant.Add(seconds(after)), instant,
		fmt.Sprintf("The run for %s did not start within %d seconds: %s.", instant.Format(time.RFC3339), after, why)}}
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }
