package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/scheduler"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/store"
)

// agenda returns the scheduler's agenda.
func agenda(t *testing.T, db *store.DB) scheduler.Agenda {
	t.Helper()
	return of(t, db, func(tx *store.ReadTx, ctx context.Context, _ int) (scheduler.Agenda, error) { return tx.Agenda(ctx) }, 0)
}

// failed returns the outcome of a run that a target refused.
func failed(run string, status int, headers map[string]string) worker.Outcome {
	return worker.Outcome{Run: run, Status: jobs.Failed, Reason: new(jobs.NonSuccessStatus), Error: new("no"), FinishedAt: time.Now().UTC().Truncate(time.Microsecond),
		Result: &jobs.Result{Status: status, Headers: headers}}
}

func releaseLater(t *testing.T, db *store.DB) int {
	t.Helper()
	return write(t, db, func(ctx context.Context, tx *store.Tx) (int, error) { return tx.ReleaseLater(ctx, 100) })
}

func releaseHeld(t *testing.T, db *store.DB) int {
	t.Helper()
	return write(t, db, func(ctx context.Context, tx *store.Tx) (int, error) { return tx.ReleaseHeld(ctx, 100) })
}

func chains(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	job := NewJob(account, "j", "http://a/")
	job.Retry = &jobs.Retry{MaxAttempts: 3, Delay: 1, MaxDelay: 60, Backoff: jobs.BackoffFixed, On: []jobs.Reason{jobs.NonSuccessStatus, jobs.WorkerLost}, Statuses: []string{"5xx"}}
	job.Alerts = new(jobs.DefaultAlerts())
	AddJobs(t, db, job)
	first := Queue(t, db, job, 1)[0]
	claim(t, db, job.Lane(), "boot", 1)
	finish(t, db, "boot", failed(first, 503, map[string]string{"retry-after": "30"}))
	second := read(t, db, account, job.Key)
	same(t, *readJob(t, db, account, job.Key).LastRun, jobs.LastRun{ID: second.ID, Status: jobs.Pending, Trigger: jobs.Rerun})
	same(t, []any{second.Attempt, *second.RerunOf, second.Trigger, second.Status, second.Attributes().Final}, []any{2, first, jobs.Rerun, jobs.Pending, false})
	same(t, []any{ReadRun(t, db, account, first).Retried, ReadRun(t, db, account, first).Attributes().Final}, []any{true, false})
	if wait := second.NotBefore.Sub(*ReadRun(t, db, account, first).FinishedAt); wait != 30*time.Second {
		t.Errorf("it waits %s", wait)
	}
	same(t, *agenda(t, db).Release, *second.NotBefore)
	same(t, releaseLater(t, db), 0)
	same(t, len(claim(t, db, job.Lane(), "boot", 1)), 0)
	same(t, readJob(t, db, account, "j").Health.State, jobs.HealthNew)
	same(t, write(t, db, func(ctx context.Context, tx *store.Tx) (int, error) { return tx.CancelAttempts(ctx, job, tx.Now()) }), 1)
	same(t, ReadRun(t, db, account, second.ID).Attributes().Final, true)
	lastAttempt(t, db, job)
}

// healthEvents returns the changes of a job's health, newest first.
func healthEvents(t *testing.T, db *store.DB, job jobs.Job) []changes.Change {
	t.Helper()
	found, err := db.History().Changes(t.Context(), job.Account, changes.Filter{Kind: jobs.KindHealth, Key: job.Key}, 0, 10)
	must(t, err)
	return found.Items
}

// read returns the newest run of a job.
func read(t *testing.T, db *store.DB, account, key string) jobs.Run {
	t.Helper()
	return ReadRun(t, db, account, readJob(t, db, account, key).LastRun.ID)
}

// lastAttempt checks that a chain of attempts without success is one failure and one event.
func lastAttempt(t *testing.T, db *store.DB, job jobs.Job) {
	t.Helper()
	run := NewRun(job)
	run.Attempt, run.NotBefore, run.Lane, run.RerunOf = 2, new(time.Unix(1000, 0).UTC()), jobs.LaterLane, new(newID())
	do(t, db, "", func(ctx context.Context, tx *store.Tx) error { return tx.InsertRuns(ctx, []jobs.Run{run}) })
	same(t, releaseLater(t, db), 1)
	same(t, claim(t, db, job.Lane(), "boot", 1), []string{run.ID})
	same(t, loseRuns(t, db, "boot", "gone"), 1)
	third := read(t, db, job.Account, job.Key)
	same(t, []any{third.Attempt, *third.RerunOf}, []any{3, run.ID})
	do(t, db, "", func(ctx context.Context, tx *store.Tx) error {
		third.ID, third.Lane, third.NotBefore = newID(), job.Lane(), new(time.Unix(1000, 0).UTC())
		return tx.InsertRuns(ctx, []jobs.Run{third})
	})
	claim(t, db, job.Lane(), "boot", 1)
	finish(t, db, "boot", failed(third.ID, 503, nil))
	ended := readJob(t, db, job.Account, job.Key)
	health := ended.Health
	same(t, []any{health.State, health.Failures, *ended.LastRun.HTTPStatus}, []any{jobs.HealthFailing, 1, 503})
	seen := healthEvents(t, db, job)
	same(t, []any{len(seen), seen[0].Action, seen[0].Actor.Type}, []any{1, jobs.Failing, changes.ActorSystem})
	succeeded := Queue(t, db, job, 1)[0]
	claim(t, db, job.Lane(), "boot", 1)
	done := time.Now().UTC().Truncate(time.Microsecond)
	finish(t, db, "boot", worker.Outcome{Run: succeeded, Status: jobs.Succeeded, FinishedAt: done})
	health = readJob(t, db, job.Account, job.Key).Health
	same(t, []any{health.State, health.Failures, *health.LastSuccessAt, health.Since}, []any{jobs.HealthOK, 0, done, done})
}

func overlaps(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	job := NewJob(account, "j", "http://a/")
	job.Overlap = jobs.OverlapWait
	AddJobs(t, db, job)
	origin := write(t, db, func(ctx context.Context, tx *store.Tx) (jobs.Origin, error) { return tx.JobToRun(ctx, account, "j") })
	unfinished := func() jobs.Unfinished {
		return write(t, db, func(ctx context.Context, tx *store.Tx) (map[string]jobs.Unfinished, error) {
			if err := tx.LockJob(ctx, origin.UID); err != nil {
				return nil, err
			}
			return tx.UnfinishedRuns(ctx, []jobs.Origin{origin})
		})[job.UID]
	}
	same(t, unfinished(), jobs.Unfinished{})
	running := Queue(t, db, job, 1)[0]
	claim(t, db, job.Lane(), "boot", 1)
	held := NewRun(job)
	held.Lane = jobs.HeldLane
	do(t, db, "", func(ctx context.Context, tx *store.Tx) error { return tx.InsertRuns(ctx, []jobs.Run{held}) })
	same(t, unfinished(), jobs.Unfinished{Others: 1, Held: held.ID})
	same(t, agenda(t, db).Held, true)
	same(t, releaseHeld(t, db), 0)
	next := NewRun(job)
	next.Lane = jobs.HeldLane
	do(t, db, "", func(ctx context.Context, tx *store.Tx) error {
		if _, err := tx.ReplaceHeld(ctx, []string{held.ID}); err != nil {
			return err
		}
		return tx.InsertRuns(ctx, []jobs.Run{next})
	})
	same(t, ReadRun(t, db, account, held.ID).Status, jobs.Canceled)
	finish(t, db, "boot", worker.Outcome{Run: running, Status: jobs.Succeeded, FinishedAt: time.Now()})
	same(t, releaseHeld(t, db), 1)
	same(t, claim(t, db, job.Lane(), "boot", 1), []string{next.ID})
	do(t, db, "", func(ctx context.Context, tx *store.Tx) error {
		skip := jobs.Firing{Due: jobs.Due{Origin: origin}, ScheduledFor: at(8)}
		if err := tx.SkipJobs(ctx, []jobs.Firing{skip}); err != nil {
			return err
		}
		return tx.SkipJobs(ctx, []jobs.Firing{skip})
	})
	same(t, find(t, db, (*store.ReadTx).SkippedInstants, job, at(8)), map[string]int{at(8).Format(time.DateOnly): 2})
}

// heldBesideOthers checks that runs which stay held do not keep later ones from being released.
func heldBesideOthers(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	var held []jobs.Run
	for i := range 4 {
		job := NewJob(account, fmt.Sprint("j", i), "http://a/")
		job.Overlap = jobs.OverlapWait
		AddJobs(t, db, job)
		if i < 3 {
			Queue(t, db, job, 1)
		}
		run := NewRun(job)
		run.Lane = jobs.HeldLane
		held = append(held, run)
		do(t, db, "", func(ctx context.Context, tx *store.Tx) error { return tx.InsertRuns(ctx, []jobs.Run{run}) })
	}
	release := func() int {
		return write(t, db, func(ctx context.Context, tx *store.Tx) (int, error) { return tx.ReleaseHeld(ctx, 2) })
	}
	same(t, []int{release(), release()}, []int{1, 0})
	changed := readJob(t, db, account, "j2")
	changed.Overlap = jobs.OverlapAllow
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateJob(ctx, changed) })
	same(t, []int{release(), release()}, []int{1, 0})
	for i, want := range []string{jobs.HeldLane, jobs.HeldLane, changed.Lane(), changed.Lane()} {
		same(t, ReadRun(t, db, account, held[i].ID).Lane, want)
	}
}

// latenessAfterSeveral checks that a job keeps its next check when a further run ends in the transaction that sets it.
func latenessAfterSeveral(t *testing.T, db *store.DB) {
	account, began := newAccount(t, db).ID, time.Now().UTC().Truncate(time.Microsecond)
	end := func(job jobs.Job, outcomes ...worker.Outcome) {
		t.Helper()
		runs := Queue(t, db, job, len(outcomes))
		claim(t, db, job.Lane(), "boot", len(runs))
		for i := range outcomes {
			outcomes[i].Run, outcomes[i].FinishedAt = runs[i], began.Add(time.Duration(i)*time.Second)
		}
		finish(t, db, "boot", outcomes...)
	}
	succeeded, refused := worker.Outcome{Status: jobs.Succeeded}, failed("", 500, nil)
	recovers := NewJob(account, "recovers", "http://a/")
	recovers.Alerts = &jobs.Alerts{AfterFailures: 1, RecoverAfter: 1, LateAfter: new(60)}
	recovers.UpdatedAt = began.Add(-time.Hour)
	AddJobs(t, db, recovers)
	end(recovers, refused)
	same(t, markLate(t, db), 1)
	same(t, agenda(t, db).Late, nil)
	end(recovers, succeeded, succeeded)
	same(t, agenda(t, db).Late, &began)
	same(t, markLate(t, db), 1)
	reminds := NewJob(account, "reminds", "http://b/")
	reminds.Alerts = &jobs.Alerts{AfterFailures: 1, RecoverAfter: 1, RemindEvery: new(300)}
	AddJobs(t, db, reminds)
	end(reminds, refused, refused)
	same(t, agenda(t, db).Late, new(began.Add(300*time.Second)))
}

func markLate(t *testing.T, db *store.DB) int {
	t.Helper()
	return write(t, db, func(ctx context.Context, tx *store.Tx) (int, error) {
		checked, err := tx.MarkLate(ctx, scheduler.LateBatch{}, 100)
		same(t, len(checked.Busy), 0)
		return checked.Jobs, err
	})
}

func lateness(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	job := NewJob(account, "j", "http://a/")
	job.Alerts = &jobs.Alerts{AfterFailures: 1, RecoverAfter: 1, LateAfter: new(60)}
	due := time.Now().UTC().Add(-time.Hour).Truncate(time.Minute)
	job.NextRunAt, job.UpdatedAt = &due, due
	AddJobs(t, db, job)
	if agenda(t, db).Late == nil {
		t.Error("nothing checks whether the job is late")
	}
	same(t, []int{markLate(t, db), markLate(t, db)}, []int{1, 0})
	found := readJob(t, db, account, "j")
	same(t, []any{found.Health.State, *found.Health.LateFor}, []any{jobs.HealthLate, due})
	same(t, agenda(t, db).Late, nil)
	same(t, of(t, db, (*store.ReadTx).UnhealthyJobs, 10), []jobs.Unhealthy{{Account: account, Key: "j", State: jobs.HealthLate}})
	seen := healthEvents(t, db, job)
	same(t, []any{len(seen), seen[0].Action}, []any{1, jobs.Late})
	ended := func(instant time.Time) jobs.HealthState {
		run := NewRun(job)
		run.ScheduledFor = &instant
		do(t, db, "", func(ctx context.Context, tx *store.Tx) error { return tx.InsertRuns(ctx, []jobs.Run{run}) })
		claim(t, db, job.Lane(), "boot", 1)
		finish(t, db, "boot", worker.Outcome{Run: run.ID, Status: jobs.Succeeded, FinishedAt: time.Now()})
		return readJob(t, db, account, "j").Health.State
	}
	same(t, ended(due.Add(-time.Minute)), jobs.HealthLate)
	same(t, ended(due), jobs.HealthOK)
}
