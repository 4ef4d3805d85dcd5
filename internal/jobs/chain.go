package jobs

import (
	"fmt"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/hosts"
)

// Lanes of pending runs that no worker claims. They sort after all other lanes.
const (
	// LaterLane has runs that wait for their not_before.
	LaterLane = "~later"
	// HeldLane has runs that wait for earlier runs of their job.
	HeldLane = "~held"
)

// Judge has the parts of a job that decide what the end of a run means.
type Judge struct {
	UID     string
	Version int
	Deleted bool
	Retry   *Retry
	Alerts  *Alerts
	Health  Health
	Host    string // the destination
}

// Verdict is the consequence of the end of a run: another attempt, or an outcome that changes the health of the job.
type Verdict struct {
	Next   *Run
	Health Health
	Event  *HealthChange
}

// End returns the verdict on a run that has ended as SUCCEEDED or FAILED. random is from 0 to 1.
func (j Judge) End(run Run, random float64) Verdict {
	if next := j.next(run, random); next != nil {
		return Verdict{Next: next, Health: j.Health}
	}
	alerts := DefaultAlerts()
	if j.Alerts != nil {
		alerts = *j.Alerts
	}
	verdict, action, detail := Verdict{}, changes.Action(""), ""
	if run.Status == Succeeded {
		verdict.Health, action = j.Health.succeed(run.instant(), *run.FinishedAt, alerts)
		detail = "A run succeeded."
		if alerts.RecoverAfter > 1 && j.Health.State == HealthFailing {
			detail = fmt.Sprintf("%d runs in a row succeeded.", alerts.RecoverAfter)
		}
	} else {
		verdict.Health, action = j.Health.fail(*run.FinishedAt, alerts)
		detail = failingDetail(run, verdict.Health.Failures)
	}
	if action != "" && j.Alerts != nil && !j.Deleted {
		verdict.Event = &HealthChange{Account: run.Account, Key: run.JobKey, Host: j.Host, Action: action, Before: j.Health, After: verdict.Health, Detail: detail, Run: run.ID}
	}
	return verdict
}

func failingDetail(run Run, failures int) string {
	times := "A run failed"
	if failures > 1 {
		times = fmt.Sprintf("%d runs in a row failed", failures)
	}
	if run.Attempt > 1 {
		times += fmt.Sprintf(" after %d attempts", run.Attempt)
	}
	return times + ": " + run.failure() + "."
}

// failure returns why a run failed, in a few words.
func (r Run) failure() string {
	if *r.Reason == NonSuccessStatus && r.Result != nil {
		return fmt.Sprintf("HTTP %d", r.Result.Status)
	}
	return map[Reason]string{Timeout: "timeout", ConnectionError: "no connection", NonSuccessStatus: "unexpected HTTP status", SSRFBlocked: "address not allowed",
		QuotaExceeded: "no runs left in the plan", WorkerLost: "the server node was lost"}[*r.Reason]
}

// next returns the next attempt of a failed run, or nil if there is none. A job that was written since the run started
// has another version: that ends the chain.
func (j Judge) next(run Run, random float64) *Run {
	if j.Retry == nil || j.Deleted || run.Status != Failed || run.Attempt >= j.Retry.MaxAttempts || run.JobVersion == nil || *run.JobVersion != j.Version {
		return nil
	}
	status, wait := 0, time.Duration(0)
	if run.Result != nil {
		status, wait = run.Result.Status, hosts.RetryAfter(run.Result.Headers["retry-after"], *run.FinishedAt, seconds(maxDelaySeconds))
	}
	if !j.Retry.covers(*run.Reason, status) {
		return nil
	}
	at := run.FinishedAt.Add(j.Retry.after(run.Attempt, random, wait)).Truncate(time.Microsecond)
	return &Run{ID: newID(), Account: run.Account, JobUID: run.JobUID, JobKey: run.JobKey, Lane: LaterLane, Trigger: Rerun, RerunOf: &run.ID,
		Attempt: run.Attempt + 1, NotBefore: &at, DueAt: new(run.instant()), Status: Pending, CreatedAt: *run.FinishedAt}
}

// instant returns the scheduled instant of a run. A run without one has the time at which the first run of its
// chain was queued.
func (r Run) instant() time.Time {
	switch {
	case r.DueAt != nil:
		return *r.DueAt
	case r.ScheduledFor != nil:
		return *r.ScheduledFor
	}
	return r.CreatedAt
}
