package storetest

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/store"
)

func lastRuns(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	idle, busy, gone := NewJob(account, "idle", "http://a/"), NewJob(account, "busy", "http://b/"), NewJob(account, "again", "http://c/")
	AddJobs(t, db, idle, busy, gone)
	ids := Queue(t, db, busy, 3)
	claim(t, db, busy.Lane(), "boot", 3)
	reason := jobs.Timeout
	finish(t, db, "boot", worker.Outcome{Run: ids[2], Status: jobs.Failed, Reason: &reason, FinishedAt: at(60)})
	Queue(t, db, gone, 1)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { _, err := tx.DeleteJob(ctx, gone, at(5)); return err })
	again := NewJob(account, "again", "http://c/")
	AddJobs(t, db, again)
	listed := func(status jobs.Status) (keys []string) {
		for _, job := range matches(t, db, (*store.ReadTx).Jobs, account, jobs.Filter{LastStatus: status}) {
			if keys = append(keys, job.Key); (job.LastRun != nil) != (job.Key == "busy") {
				t.Errorf("the last run of %s is %+v", job.Key, job.LastRun)
			}
		}
		slices.Sort(keys)
		return keys
	}
	same(t, listed(""), []string{"again", "busy", "idle"}) // runs of a deleted job with the same key do not count
	same(t, listed(jobs.Failed), []string{"busy"})
	same(t, listed(jobs.Running), nil)
	same(t, listed(jobs.Canceled), nil)
	last := readJob(t, db, account, "busy").LastRun
	same(t, []any{last.ID, last.Status, *last.Reason, last.Trigger, last.StartedAt != nil, *last.FinishedAt},
		[]any{ids[2], jobs.Failed, jobs.Timeout, jobs.Manual, true, at(60)})
	same(t, readJob(t, db, account, "again").LastRun, nil)
	newest := Queue(t, db, again, 1)[0]
	same(t, *readJob(t, db, account, "again").LastRun, jobs.LastRun{ID: newest, Status: jobs.Pending, Trigger: jobs.Manual})
}

func finishedRuns(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	job, other := NewJob(account, "j", "http://a/"), NewJob(account, "other", "http://a/")
	AddJobs(t, db, job, other)
	Queue(t, db, other, 1)
	boot, day := newID(), time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -1)
	runs := make([]jobs.Run, 6)
	for i := range runs {
		runs[i] = NewRun(job)
		runs[i].CreatedAt = day.Add(time.Duration(i%2) * 24 * time.Hour)
	}
	do(t, db, "", func(ctx context.Context, tx *store.Tx) error { return tx.InsertRuns(ctx, runs) })
	cancel(t, db, account, runs[0].ID)
	claim(t, db, job.Lane(), boot, 10)
	for i := 1; i < 5; i++ {
		started := *ReadRun(t, db, account, runs[i].ID).StartedAt
		finish(t, db, boot, worker.Outcome{Run: runs[i].ID, Status: jobs.Succeeded, FinishedAt: started.Add(time.Duration(i/3) * 7 * time.Millisecond)})
	}
	found := find(t, db, (*store.ReadTx).FinishedRuns, job, day)
	slices.SortFunc(found, func(a, b jobs.RunCount) int {
		return cmp.Or(a.Day.Compare(b.Day), cmp.Compare(a.Status, b.Status), cmp.Compare(millis(a), millis(b)))
	})
	next := day.Add(24 * time.Hour)
	same(t, found, []jobs.RunCount{{Day: day, Status: jobs.Canceled, Runs: 1}, {Day: day, Status: jobs.Succeeded, Millis: new(int64(0)), Runs: 1},
		{Day: day, Status: jobs.Succeeded, Millis: new(int64(7)), Runs: 1},
		{Day: next, Status: jobs.Succeeded, Millis: new(int64(0)), Runs: 1}, {Day: next, Status: jobs.Succeeded, Millis: new(int64(7)), Runs: 1}})
	later := find(t, db, (*store.ReadTx).FinishedRuns, job, next)
	same(t, len(later), 2)

	hours := list(t, db, (*store.ReadTx).RunHours, account, day, 100)
	slices.SortFunc(hours, func(a, b jobs.HourCount) int { return cmp.Or(a.Hour.Compare(b.Hour), cmp.Compare(a.Status, b.Status)) })
	same(t, hours[:3], []jobs.HourCount{{Hour: day, Status: jobs.Canceled, Runs: 1}, {Hour: day, Status: jobs.Succeeded, Runs: 2},
		{Hour: next, Status: jobs.Running, Runs: 1}})
	total := 0
	for _, hour := range list(t, db, (*store.ReadTx).RunHours, account, day, 4) {
		total += hour.Runs
	}
	same(t, total, 4)
}

func millis(count jobs.RunCount) int64 {
	if count.Millis == nil {
		return -1
	}
	return *count.Millis
}

func pendingLimits(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	job, elsewhere := NewJob(account, "j", "http://a/"), NewJob(other, "j", "http://a/")
	AddJobs(t, db, job)
	AddJobs(t, db, elsewhere)
	ids := Queue(t, db, job, 5)
	Queue(t, db, elsewhere, 2)
	pending := func(limit int) int {
		return find(t, db, (*store.ReadTx).PendingRuns, []string{account}, limit)[account]
	}
	same(t, []int{pending(100), pending(3)}, []int{5, 3})
	claim(t, db, job.Lane(), "boot", 1)
	expire := func(before time.Time, limit int) int {
		return write(t, db, func(ctx context.Context, tx *store.Tx) (int, error) {
			return tx.ExpireRuns(ctx, account, before, oddText, limit)
		})
	}
	same(t, expire(at(3), 100), 0) // the runs were queued at that instant, not before
	same(t, expire(at(4), 3), 3)
	same(t, expire(at(4), 3), 1)
	same(t, pending(100), 0)
	for i, want := range []jobs.Status{jobs.Running, jobs.Canceled, jobs.Canceled} {
		same(t, ReadRun(t, db, account, ids[i]).Status, want)
	}
	run := ReadRun(t, db, account, ids[1])
	same(t, []any{*run.Error, run.FinishedAt != nil, run.Reason == nil}, []any{oddText, true, true})
	same(t, find(t, db, (*store.ReadTx).PendingRuns, []string{account, other, newID()}, 100), map[string]int{account: 0, other: 2})
	do(t, db, "", func(ctx context.Context, tx *store.Tx) error {
		return tx.SkipJobs(ctx, []jobs.Firing{{Due: jobs.Due{Origin: jobs.Origin{UID: job.UID}}, ScheduledFor: at(8)}})
	})
	skipped := readJob(t, db, account, "j")
	same(t, []any{*skipped.SkippedAt, skipped.Version, readJob(t, db, other, "j").SkippedAt}, []any{at(8), 1, (*time.Time)(nil)})
}
