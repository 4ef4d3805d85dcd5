package jobs

import (
	"fmt"
	"testing"
	"time"
)

func ended(change func(*Run)) Run {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	run := Run{ID: "r", Account: "a", JobUID: "u", JobKey: "j", Attempt: 1, JobVersion: new(4), CreatedAt: at.Add(-time.Minute), ScheduledFor: new(at.Add(-time.Hour)),
		Status: Failed, Reason: new(NonSuccessStatus), Result: &Result{Status: 503}, FinishedAt: &at}
	if change != nil {
		change(&run)
	}
	return run
}

func TestJudge_Next(t *testing.T) {
	t.Parallel()
	retry := Retry{MaxAttempts: 3, Delay: 10, MaxDelay: 60, Backoff: BackoffExponential, On: []Reason{Timeout, NonSuccessStatus}, Statuses: []string{"429", "5xx"}}
	judge := Judge{UID: "u", Version: 4, Retry: &retry, Alerts: new(DefaultAlerts()), Health: Health{State: HealthOK}}
	for name, c := range map[string]struct {
		run  Run
		want time.Duration // 0: final
	}{
		"the first failure":          {ended(nil), 10 * time.Second},
		"the second failure":         {ended(func(r *Run) { r.Attempt = 2 }), 20 * time.Second},
		"the last failure":           {ended(func(r *Run) { r.Attempt = 3 }), 0},
		"a timeout":                  {ended(func(r *Run) { r.Reason, r.Result = new(Timeout), nil }), 10 * time.Second},
		"a reason not asked for":     {ended(func(r *Run) { r.Reason, r.Result = new(WorkerLost), nil }), 0},
		"a status not asked for":     {ended(func(r *Run) { r.Result.Status = 404 }), 0},
		"a success":                  {ended(func(r *Run) { r.Status, r.Reason = Succeeded, nil }), 0},
		"a job that was written":     {ended(func(r *Run) { r.JobVersion = new(3) }), 0},
		"a run that never started":   {ended(func(r *Run) { r.JobVersion, r.Reason = nil, new(QuotaExceeded) }), 0},
		"Retry-After":                {ended(func(r *Run) { r.Result.Headers = map[string]string{"retry-after": "45"} }), 45 * time.Second},
		"Retry-After above the most": {ended(func(r *Run) { r.Result.Headers = map[string]string{"retry-after": "4500"} }), 60 * time.Second},
		"Retry-After below":          {ended(func(r *Run) { r.Result.Headers = map[string]string{"retry-after": "1"} }), 10 * time.Second},
		"Retry-After as a date":      {ended(func(r *Run) { r.Result.Headers = map[string]string{"retry-after": "Tue, 01 Jan 2030 00:00:30 GMT"} }), 30 * time.Second},
		"Retry-After as nonsense":    {ended(func(r *Run) { r.Result.Headers = map[string]string{"retry-after": "soon"} }), 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verdict := judge.End(c.run, 0.5)
			if (verdict.Next != nil) != (c.want > 0) {
				t.Fatalf("the next attempt is %+v", verdict.Next)
			}
			if next := verdict.Next; next != nil && (next.NotBefore.Sub(*c.run.FinishedAt) != c.want || next.Attempt != c.run.Attempt+1 || *next.RerunOf != "r" ||
				next.Trigger != Rerun || !next.instant().Equal(*c.run.ScheduledFor) || next.ScheduledFor != nil || verdict.Event != nil) {
				t.Errorf("the next attempt is %+v", next)
			}
		})
	}
	deleted := judge
	deleted.Deleted = true
	if verdict := deleted.End(ended(nil), 0); verdict.Next != nil || verdict.Event != nil {
		t.Errorf("a deleted job: %+v", verdict)
	}
}

// TestJudge_Detail: an event says in plain words what failed.
func TestJudge_Detail(t *testing.T) {
	t.Parallel()
	for want, run := range map[string]Run{
		"A run failed: HTTP 503.":                                  ended(nil),
		"A run failed after 3 attempts: timeout.":                  ended(func(r *Run) { r.Attempt, r.Reason, r.Result = 3, new(Timeout), nil }),
		"A run failed: no connection.":                             ended(func(r *Run) { r.Reason, r.Result = new(ConnectionError), nil }),
		"A run failed: address not allowed.":                       ended(func(r *Run) { r.Reason, r.Result = new(SSRFBlocked), nil }),
		"A run failed: no runs left in the plan.":                  ended(func(r *Run) { r.Reason, r.Result = new(QuotaExceeded), nil }),
		"A run failed after 2 attempts: the server node was lost.": ended(func(r *Run) { r.Attempt, r.Reason, r.Result = 2, new(WorkerLost), nil }),
	} {
		t.Run(want, func(t *testing.T) {
			verdict := Judge{UID: "u", Version: 4, Alerts: new(DefaultAlerts()), Health: Health{State: HealthOK}}.End(run, 0)
			if verdict.Event == nil || verdict.Event.Detail != want {
				t.Errorf("got %+v, want %s", verdict.Event, want)
			}
		})
	}
}

func TestRetry_AfterStaysWithinJitter(t *testing.T) {
	t.Parallel()
	retry := Retry{Delay: 100, MaxDelay: 300, Backoff: BackoffExponential}
	for attempt, want := range map[int]int{1: 100, 2: 200, 3: 300, 9: 300} {
		t.Run(fmt.Sprint(attempt), func(t *testing.T) {
			low, high := retry.after(attempt, 0, 0), retry.after(attempt, 1, 0)
			if low != seconds(want)*9/10 || high != seconds(want)*11/10 {
				t.Errorf("after attempt %d: %s to %s", attempt, low, high)
			}
		})
	}
	fixed := Retry{Delay: 100, MaxDelay: 300, Backoff: BackoffFixed}
	if got := fixed.after(9, 0.5, 0); got != seconds(100) {
		t.Errorf("fixed: %s", got)
	}
}
