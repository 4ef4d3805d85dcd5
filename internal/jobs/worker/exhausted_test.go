package worker_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
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

// forgetful is a worker's store whose first commit of a run that is put back is not answered. It tries again when the run
// has been claimed a second time.
type forgetful struct {
	worker.Store
	tries   atomic.Int64
	claimed chan struct{}
	done    chan struct{}
}

func (f *forgetful) Write(ctx context.Context, account string, fn func(context.Context, worker.Tx) error) error {
	if account == "" {
		return f.Store.Write(ctx, account, fn)
	}
	try := f.tries.Add(1)
	if try == 2 {
		<-f.claimed
		defer close(f.done)
	}
	if err := f.Store.Write(ctx, account, fn); err != nil || try > 1 {
		return err
	}
	return fault.New(fault.Unavailable, "The connection broke.")
}

// A run that was put back and claimed again is not put back a second time by the same claim.
func TestWorker_PutBackWithoutAnswer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		store, sent, open := &forgetful{Store: db.Worker(), claimed: make(chan struct{}), done: make(chan struct{})}, atomic.Int64{}, make(chan struct{})
		r := newRig(t, db, func(w *worker.Worker) { w.Store = store })
		r.sender.answer = func(worker.Order) (jobs.Result, error) {
			switch sent.Add(1) {
			case 1:
				return jobs.Result{}, worker.ErrExhausted
			case 2:
				close(store.claimed)
				<-open
			}
			return jobs.Result{Status: 200}, nil
		}
		id := storetest.Queue(t, db, newJob(t, db, account, "a"), 1)[0]
		r.start(t)
		<-store.done
		if got := outcome(storetest.ReadRun(t, db, account, id)); got != "RUNNING" {
			t.Errorf("while its request is made, it is %s", got)
		}
		close(open)
		r.ended(t, account, id, "SUCCEEDED")
		if sent.Load() != 2 || used(t, db, account) != 1 {
			t.Errorf("it was sent %d times, and metered %d times", sent.Load()-1, used(t, db, account))
		}
	})
}

// stuck is a worker's store that puts back nothing until it may.
type stuck struct {
	worker.Store
	waits, may chan struct{}
}

func (s stuck) Write(ctx context.Context, account string, fn func(context.Context, worker.Tx) error) error {
	if account != "" {
		close(s.waits)
		<-s.may
	}
	return s.Store.Write(ctx, account, fn)
}

// A run that cannot be put back, as while its account is locked, does not keep others from being canceled.
func TestWorker_CancelsWhileRunsArePutBack(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	store := stuck{db.Worker(), make(chan struct{}), make(chan struct{})}
	r := newRig(t, db, func(w *worker.Worker) { w.Store = store })
	r.sender.answer = func(worker.Order) (jobs.Result, error) { return jobs.Result{}, worker.ErrExhausted }
	r.sender.hold("slow")
	slow := storetest.Queue(t, db, newJob(t, db, account, "slow"), 1)[0]
	r.start(t)
	storetest.Wait(t, soon, "the request is made", func() bool { return r.sender.inFlight("slow") == 1 })
	back := storetest.Queue(t, db, newJob(t, db, account, "a"), 1)[0]
	<-store.waits
	cancel(t, db, account, slow)
	storetest.Wait(t, soon, "the request is aborted", func() bool { return r.sender.cause(slow) != nil })
	cancel(t, db, account, back)
	close(store.may)
	r.ended(t, account, back, "CANCELED")
}
