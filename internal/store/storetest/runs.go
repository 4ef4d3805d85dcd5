package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
)

func listRuns(t *testing.T, db *store.DB, account string, filter jobs.RunFilter, cursor page.Cursor) (ids []string, more bool) {
	t.Helper()
	tail := list(t, db, (*store.ReadTx).Runs, account, filter, cursor)
	for _, run := range tail.Items {
		ids = append(ids, run.ID)
	}
	return ids, tail.More
}

func cancel(t *testing.T, db *store.DB, account, id string) bool {
	t.Helper()
	return write(t, db, func(ctx context.Context, tx *store.Tx) (bool, error) {
		return tx.CancelRun(ctx, account, id, "Canceled by Ada.", at(50))
	})
}

func runConcept(t *testing.T, shared *store.DB) {
	db := OpenSealed(t, New(t, shared.Name()))
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	job := NewJob(account, "j", "http://user:pass@a/")
	AddJobs(t, db, job)
	t.Run("round trip", func(t *testing.T) {
		run, scheduled, source := NewRun(job), at(7), newID()
		run.Trigger, run.ScheduledFor, run.RerunOf = jobs.Rerun, &scheduled, &source
		do(t, db, "", func(ctx context.Context, tx *store.Tx) error { return tx.InsertRuns(ctx, []jobs.Run{run}) })
		same(t, ReadRun(t, db, account, run.ID), run)
		lacks(t, db, (*store.ReadTx).Run, other, run.ID)
	})
	t.Run("one run per instant", func(t *testing.T) {
		first, second, elsewhere, instant := NewRun(job), NewRun(job), NewRun(job), at(8)
		for _, run := range []*jobs.Run{&first, &second, &elsewhere} {
			run.Trigger, run.ScheduledFor = jobs.OnSchedule, &instant
		}
		elsewhere.JobUID = newID()
		do(t, db, "", func(ctx context.Context, tx *store.Tx) error {
			return tx.InsertRuns(ctx, []jobs.Run{first, elsewhere, second})
		})
		same(t, ReadRun(t, db, account, first.ID).Status, jobs.Pending)
		same(t, ReadRun(t, db, account, elsewhere.ID).Status, jobs.Pending)
		lacks(t, db, (*store.ReadTx).Run, account, second.ID)
	})
	t.Run("cancel once", func(t *testing.T) {
		id := Queue(t, db, job, 1)[0]
		same(t, cancel(t, db, other, id), false)
		same(t, cancel(t, db, account, id), true)
		same(t, cancel(t, db, account, id), false)
		run := ReadRun(t, db, account, id)
		same(t, *run.FinishedAt, at(50))
		same(t, *run.Error, "Canceled by Ada.")
	})
	t.Run("results of all sizes", func(t *testing.T) { runResults(t, db, job) })
	t.Run("size limit of a page", func(t *testing.T) { runBudget(t, db) })
	t.Run("list, newest first", func(t *testing.T) { runLists(t, db) })
}

func runResults(t *testing.T, db *store.DB, job jobs.Job) {
	job = NewJob(job.Account, "results", "http://user:pass@results/")
	AddJobs(t, db, job)
	boot := newID()
	bodies := []string{"", oddText + "\x00", strings.Repeat("compresses well ", 4000), strings.Repeat(oddText, 20)}
	ids := Queue(t, db, job, len(bodies))
	claim(t, db, job.Lane(), boot, len(ids))
	for i, id := range ids {
		result := &jobs.Result{Status: 299, Headers: map[string]string{"a": oddText}, Body: bodies[i], BodyTruncated: true, BodyBytes: 1 << 40,
			Timings: &jobs.Timings{DNS: 1.5, Total: 2.25}}
		finish(t, db, boot, worker.Outcome{Run: id, Status: jobs.Succeeded, Result: result, FinishedAt: at(60)})
		got := ReadRun(t, db, job.Account, id)
		same(t, got.Result, result)
		same(t, *got.FinishedAt, at(60))
		same(t, got.Request.URL, "http://"+jobs.Redacted+"@results/")
	}
}

// runBudget lists runs with large requests, large response headers and large
// response bodies.
func runBudget(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	odd := strings.Repeat("\x01", 60_000) // six times as long as JSON
	body := strings.Repeat("b", 900_000)
	for key, plain := range map[string]jobs.Plain{"small": {URL: "http://a/"}, "large": {URL: "http://b/", Body: &body}} {
		t.Run(key, func(t *testing.T) {
			job := NewJob(account, key, plain.URL)
			job.Configuration = jobs.NewConfiguration(plain)
			AddJobs(t, db, job)
			ids := Queue(t, db, job, 60)
			boot := newID()
			claim(t, db, job.Lane(), boot, len(ids))
			outcomes := make([]worker.Outcome, len(ids))
			for i, id := range ids {
				outcomes[i] = worker.Outcome{Run: id, Status: jobs.Succeeded, FinishedAt: at(60), Result: &jobs.Result{Status: 200}}
				switch {
				case key == "large":
				case i%2 == 0:
					outcomes[i].Result.Body = odd
				default:
					outcomes[i].Result.Headers = map[string]string{"a": odd}
				}
			}
			finish(t, db, boot, outcomes...)
			tail := list(t, db, (*store.ReadTx).Runs, account, jobs.RunFilter{Job: key}, page.Cursor{Size: 100})
			size := 0
			for _, run := range tail.Items {
				text, err := json.Marshal(run.Attributes())
				if err != nil || run.Request == nil {
					t.Fatal(err, run.Request)
				}
				size += len(text)
			}
			if size > 8<<20 || size < 6<<20 || !tail.More {
				t.Errorf("%d runs with %d bytes, more: %v", len(tail.Items), size, tail.More)
			}
		})
	}
}

func runLists(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	a, b := NewJob(account, "a", "http://a/"), NewJob(account, "b", "http://b/")
	AddJobs(t, db, a, b)
	var newest []string
	for range 6 {
		older := Queue(t, db, a, 1)[0]
		newest = append([]string{Queue(t, db, b, 1)[0], older}, newest...)
	}
	cancel(t, db, account, newest[3])
	all, more := listRuns(t, db, account, jobs.RunFilter{}, page.Cursor{Size: 100})
	same(t, all, newest)
	same(t, more, false)
	first, more := listRuns(t, db, account, jobs.RunFilter{}, page.Cursor{Size: 5})
	same(t, first, newest[:5])
	same(t, more, true)
	rest, more := listRuns(t, db, account, jobs.RunFilter{}, page.Cursor{Size: 7, After: first[4]})
	same(t, rest, newest[5:])
	same(t, more, false)
	for count, filter := range map[int]jobs.RunFilter{
		6: {Job: "a"}, 1: {Status: jobs.Canceled}, 11: {Status: jobs.Pending}, 12: {Trigger: jobs.Manual}, 0: {Trigger: jobs.OnSchedule},
	} {
		t.Run(fmt.Sprintf("%d runs", count), func(t *testing.T) {
			found, _ := listRuns(t, db, account, filter, page.Cursor{Size: 100})
			same(t, len(found), count)
		})
	}
	for name, filter := range map[string]jobs.RunFilter{
		"from": {From: at(4)}, "to": {To: at(3)}, "trigger": {Trigger: jobs.Rerun}, "status": {Status: jobs.Failed}, "job": {Job: "A"},
	} {
		t.Run("none by "+name, func(t *testing.T) {
			found, _ := listRuns(t, db, account, filter, page.Cursor{Size: 100})
			same(t, len(found), 0)
		})
	}
	runInstants(t, db)
	refused(t, db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error { _, err := tx.Run(ctx, account, newID()); return err }), fault.NotFound)
}

// runInstants lists runs by when they were queued.
func runInstants(t *testing.T, db *store.DB) {
	t.Helper()
	job := NewJob(newAccount(t, db).ID, "j", "http://a/")
	now := time.Now().UTC().Truncate(time.Microsecond)
	run := NewRun(job)
	run.CreatedAt = now
	do(t, db, "", func(ctx context.Context, tx *store.Tx) error { return tx.InsertRuns(ctx, []jobs.Run{run}) })
	for count, filters := range map[int][]jobs.RunFilter{
		1: {{From: now}, {From: now, To: now.Add(1000)}, {From: now.Add(-5 * time.Hour), To: now.Add(5 * time.Hour)}, {From: now.Add(-time.Minute), To: now.AddDate(9000, 0, 0)}},
		0: {{From: now.Add(1000)}, {From: at(4), To: now}, {From: now.Add(5 * time.Hour)}, {To: now.AddDate(-1970, 0, 0)}},
	} {
		t.Run(fmt.Sprintf("%d runs", count), func(t *testing.T) {
			for _, filter := range filters {
				found, _ := listRuns(t, db, job.Account, filter, page.Cursor{Size: 100})
				if len(found) != count {
					t.Errorf("from %s to %s: %d runs, want %d", filter.From, filter.To, len(found), count)
				}
			}
		})
	}
}
