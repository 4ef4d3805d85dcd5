package worker_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// used returns how many runs of an account were metered this month.
func used(t *testing.T, db *store.DB, account string) (count int) {
	t.Helper()
	if err := db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) (err error) {
		count, err = tx.RunsUsed(ctx, account, jobs.Period(tx.Now()))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return count
}

// A node without file descriptors has sent nothing: its runs keep their only
// attempt, and the account pays for it once.
func TestWorker_ExhaustedNodeKeepsRunsPending(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		const runs = 20
		db := storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		var short atomic.Bool
		short.Store(true)
		r := newRig(t, db)
		r.sender.answer = func(worker.Order) (jobs.Result, error) {
			if short.Load() {
				return jobs.Result{}, fmt.Errorf("%w: too many open files", worker.ErrExhausted)
			}
			return jobs.Result{Status: 200}, nil
		}
		ids := storetest.Queue(t, db, newJob(t, db, account, "a"), runs)
		r.start(t)
		storetest.Wait(t, soon, "requests are not made", func() bool { return r.sender.count("a") >= 2*runs })
		short.Store(false)
		for _, id := range ids {
			r.ended(t, account, id, "SUCCEEDED")
		}
		if count := used(t, db, account); count != runs {
			t.Errorf("%d runs are metered, want %d", count, runs)
		}
	})
}

// Without resources the node waits before it claims again.
func TestWorker_ExhaustedNodePauses(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	r := newRig(t, db, func(w *worker.Worker) { w.Intervals.Poll = time.Hour })
	r.sender.answer = func(worker.Order) (jobs.Result, error) { return jobs.Result{}, worker.ErrExhausted }
	id := storetest.Queue(t, db, newJob(t, db, account, "a"), 1)[0]
	r.start(t)
	storetest.Wait(t, soon, "the run is put back", func() bool {
		return r.sender.count("a") == 1 && storetest.ReadRun(t, db, account, id).Status == jobs.Pending
	})
	run := storetest.ReadRun(t, db, account, id)
	if run.StartedAt != nil || run.JobVersion != nil || run.Request != nil || used(t, db, account) != 0 {
		t.Errorf("it is %+v", run)
	}
	r.Wake()
	cancel(t, db, account, id)
	if got := r.ended(t, account, id, "CANCELED"); got.StartedAt != nil || r.sender.count("a") != 1 {
		t.Errorf("it was claimed again: %+v", got)
	}
}

// A run that was canceled, or whose job was deleted, while nothing could be
// sent for it does not wait again.
func TestWorker_ExhaustedNodePutsNothingBackThatIsOver(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		r := newRig(t, db)
		r.sender.answer = func(worker.Order) (jobs.Result, error) { return jobs.Result{}, worker.ErrExhausted }
		r.sender.deaf["gone"], r.sender.deaf["canceled"] = true, true
		openGone, openCanceled := r.sender.hold("gone"), r.sender.hold("canceled")
		defer openGone()
		defer openCanceled()
		job := newJob(t, db, account, "gone")
		gone := storetest.Queue(t, db, job, 1)[0]
		canceled := storetest.Queue(t, db, newJob(t, db, account, "canceled"), 1)[0]
		r.start(t)
		storetest.Wait(t, soon, "both are in flight", func() bool { return r.sender.inFlight("all") == 2 })
		if err := db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.DeleteJob(ctx, job, tx.Now())
			return err
		}); err != nil {
			t.Fatal(err)
		}
		cancel(t, db, account, canceled)
		openGone()
		openCanceled()
		if run := r.ended(t, account, gone, "CANCELED"); run.FinishedAt == nil {
			t.Errorf("it is %+v", run)
		}
		r.ended(t, account, canceled, "CANCELED")
		storetest.Wait(t, soon, "only the canceled one is metered", func() bool { return used(t, db, account) == 1 })
	})
}
