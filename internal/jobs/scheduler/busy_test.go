package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// lateEvents returns how many events of an account's history say that a job is late.
func lateEvents(t *testing.T, db *store.DB, account string) (late int) {
	t.Helper()
	found, err := db.History().Changes(t.Context(), account, changes.Filter{}, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range found.Items {
		if change.Kind == jobs.KindHealth && change.Action == jobs.Late {
			late++
		}
	}
	return late
}

// Late jobs of an account whose lock another transaction holds delay neither the firing nor the lateness of others. They are
// told once, and fire afterward.
func TestScheduler_BusyAccountDelaysNoOther(t *testing.T) {
	t.Parallel()
	database, clock := storetest.New(t, "postgres"), newClock()
	db := clock.open(t, database)
	busy, free := storetest.NewTenant(t, db, "pro").Account.ID, storetest.NewTenant(t, db, "pro").Account.ID
	const more = batch + 10 // than fit into a batch
	for _, account := range []string{busy, free} {
		var written []jobs.Job
		for i := range more {
			job := storetest.NewJob(account, fmt.Sprint("late-", i), "http://a/")
			job.Schedule, job.NextRunAt, job.UpdatedAt = "* * * * *", new(clock.now().Add(-time.Hour)), clock.now().Add(-time.Hour)
			job.Alerts = &jobs.Alerts{AfterFailures: 1, RecoverAfter: 1, LateAfter: new(60)}
			written = append(written, job)
		}
		storetest.AddJobs(t, db, written...)
	}
	newJob(t, db, busy, "other", "* * * * *", clock.now())
	end := database.BusyAccount(t, busy)
	defer end()
	r := start(t, db)
	fired := func(account string) int { return len(storetest.AllRuns(t, db, account)) }
	storetest.Wait(t, soon, "all other jobs fire", func() bool { return fired(free) == more && fired(busy) == 1 })
	r.check(t)
	if late, of := lateEvents(t, db, free), lateEvents(t, db, busy); late != more || of != 0 || fired(busy) != 1 {
		t.Errorf("%d jobs are late, and %d of the busy account, which fired %d", late, of, fired(busy))
	}
	end()
	storetest.Wait(t, soon, "the late jobs fire", func() bool { return fired(busy) == more+1 })
	if late := lateEvents(t, db, busy); late != more {
		t.Errorf("%d jobs are late", late)
	}
}

// A one-off whose account is changing its number of enabled jobs does not delay the jobs of others.
func TestScheduler_ChangedNumberOfJobsDelaysNoOther(t *testing.T) {
	t.Parallel()
	database, clock := storetest.New(t, "postgres"), newClock()
	db := clock.open(t, database)
	busy, free := storetest.NewTenant(t, db, "pro").Account.ID, storetest.NewTenant(t, db, "pro").Account.ID
	for _, account := range []string{busy, free} {
		newJob(t, db, account, "once", clock.now().Format(time.RFC3339), clock.now())
		if err := db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error { return tx.AddActiveJobs(ctx, account, 1) }); err != nil {
			t.Fatal(err)
		}
	}
	newJob(t, db, busy, "other", "* * * * *", clock.now())
	end := database.Busy(t, `UPDATE account_totals SET amount = amount WHERE account_id = $1`, busy)
	defer end()
	r := start(t, db)
	fired := func(account string) int { return len(storetest.AllRuns(t, db, account)) }
	storetest.Wait(t, soon, "the other jobs fire", func() bool { return fired(free) == 1 && fired(busy) == 1 })
	r.check(t)
	if runs := runsOf(t, db, busy, "once"); len(runs) != 0 {
		t.Errorf("the one-off has the runs %v", runs)
	}
	end()
	storetest.Wait(t, soon, "the one-off fires", func() bool { return fired(busy) == 2 })
	r.check(t)
	if fired(busy) != 2 {
		t.Error("it fired again")
	}
}
