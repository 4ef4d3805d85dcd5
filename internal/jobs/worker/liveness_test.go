package worker_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// leaveBehind makes what a worker leaves that was killed: its row and a run.
func leaveBehind(t *testing.T, db *store.DB, account, boot, node string) (run string) {
	t.Helper()
	job := newJob(t, db, account, "dead")
	run = storetest.Queue(t, db, job, 1)[0]
	err := db.Write(t.Context(), "", func(tx *store.Tx) error {
		if err := tx.Beat(t.Context(), boot, node); err != nil {
			return err
		}
		_, err := tx.ClaimRuns(t.Context(), job.Lane(), boot, 1)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestTheRunsOfADeadNodeAreLost(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		began := time.Now()
		run := leaveBehind(t, db, account, "dead", "elsewhere") // before anybody else can claim it
		r := newRig(t, db, func(w *worker.Worker) { w.Pace.GiveUpOther = 2500 * time.Millisecond }).start(t)
		r.ended(t, account, run, "FAILED WORKER_LOST")
		if took := time.Since(began); took < r.Pace.GiveUpOther {
			t.Errorf("it was given up after %s", took)
		}
		if nodes(t, db) != 1 {
			t.Error("the dead node is still there")
		}
	})
}

func TestThePreviousBootOfANodeIsLostAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		run := leaveBehind(t, db, account, "previous", "this")
		other := leaveBehind(t, db, account, "other", "that")
		r := newRig(t, db, func(w *worker.Worker) { w.Node, w.Pace.GiveUpOther = "this", time.Hour }).start(t) // as any other it would not be lost today
		r.ended(t, account, run, "FAILED WORKER_LOST")
		if got := outcome(storetest.ReadRun(t, db, account, other)); got != "RUNNING" {
			t.Errorf("the run of another node is %s", got)
		}
	})
}

// A worker that waits for a database that is gone aborts its requests before
// the others conclude that it is gone, and reports when the database is back.
func TestAPartitionedNodeAbortsItsRequests(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	behind, proxy := database.ThroughProxy(t)
	near, far := storetest.OpenSealed(t, database), storetest.OpenSealed(t, behind)
	account := storetest.NewTenant(t, near, "pro").Account.ID
	mortal := func(w *worker.Worker) { // what is between is more than a busy machine pauses
		w.Pace.GiveUpOwn, w.Pace.GiveUpOther = 3*time.Second, 10*time.Second
	}
	r := newRig(t, far, mortal).start(t)
	r.world.hold("slow")
	run := storetest.Queue(t, near, newJob(t, near, account, "slow"), 1)[0]
	storetest.Wait(t, soon, "the request is made", func() bool { return r.world.inFlight("slow") == 1 })
	witness := newRig(t, near, mortal, func(w *worker.Worker) { w.Limits = worker.Limits{} }).start(t) // it claims nothing
	storetest.Wait(t, soon, "both beat", func() bool { return nodes(t, near) == 2 })
	proxy.Down()
	lost := witness.ended(t, account, run, "FAILED WORKER_LOST")
	storetest.Wait(t, soon, "the request is aborted", func() bool { return r.world.cause(run) != nil })
	if at := r.world.abortedAt(run); !at.Before(*lost.FinishedAt) {
		t.Errorf("it was lost at %s and aborted at %s", lost.FinishedAt, at)
	}
	proxy.Up()
	job := newJob(t, near, account, "next")
	storetest.Wait(t, soon, "the worker works again", func() bool {
		return outcome(over(t, near, account, storetest.Queue(t, near, job, 1)[0])) == "SUCCEEDED"
	})
}

func TestConnectionsThatFallSilentDoNotCostTheRuns(t *testing.T) {
	t.Parallel()
	behind, proxy := storetest.New(t, "postgres").ThroughProxy(t)
	db := storetest.OpenSealed(t, behind)
	account := storetest.NewTenant(t, db, "pro").Account.ID
	r := newRig(t, db, func(w *worker.Worker) { w.Pace.GiveUpOwn, w.Pace.GiveUpOther = 20*time.Second, 30*time.Second }).start(t)
	open := r.world.hold("slow")
	run := storetest.Queue(t, db, newJob(t, db, account, "slow"), 1)[0]
	storetest.Wait(t, soon, "the request is made", func() bool { return r.world.inFlight("slow") == 1 })
	before := beats(t, storetest.OpenSealed(t, behind))
	proxy.Stall()
	watching := storetest.OpenSealed(t, behind) // new connections work
	storetest.Wait(t, soon, "it beats on", func() bool { return beats(t, watching) > before+2 })
	open()
	storetest.Wait(t, soon, "the run is done", func() bool { return outcome(storetest.ReadRun(t, watching, account, run)) == "SUCCEEDED" })
}

func beats(t *testing.T, db *store.DB) (beat int64) {
	t.Helper()
	err := db.Read(t.Context(), func(tx *store.ReadTx) error {
		found, err := tx.Nodes(t.Context())
		if err == nil && len(found) == 1 {
			beat = found[0].Beat
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return beat
}

// deaf is a store whose reads never end by themselves.
type deaf struct{ worker.Store }

func (deaf) Read(ctx context.Context, _ func(worker.ReadTx) error) error {
	<-ctx.Done()
	return ctx.Err()
}

// What a worker wants to know of the others never delays its own beat.
func TestReadsThatHangDoNotDelayTheBeat(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		newRig(t, db, func(w *worker.Worker) { w.Store = deaf{db.Worker()} }).start(t)
		storetest.Wait(t, soon, "the worker beats", func() bool { return nodes(t, db) == 1 })
		first := beats(t, db)
		storetest.Wait(t, soon, "it goes on beating", func() bool { return beats(t, db) >= first+5 })
	})
}

func TestAnOutageKeepsOutcomes(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	behind, proxy := database.ThroughProxy(t)
	near, far := storetest.OpenSealed(t, database), storetest.OpenSealed(t, behind)
	account := storetest.NewTenant(t, near, "pro").Account.ID
	r := newRig(t, far).start(t)
	open := r.world.hold("slow")
	runs := storetest.Queue(t, near, newJob(t, near, account, "slow"), 5)
	storetest.Wait(t, soon, "the requests are made", func() bool { return r.world.inFlight("slow") == 5 })
	proxy.Down()
	open()
	storetest.Wait(t, soon, "the requests have ended", func() bool { return r.world.inFlight("slow") == 0 })
	proxy.Up()
	r.db = near
	for _, run := range runs {
		r.ended(t, account, run, "SUCCEEDED")
	}
}

// broken is a worker's store that does what a test tells it to.
type broken struct {
	worker.Store
	change func(worker.Tx) worker.Tx // nil: as it is
	writes atomic.Int64
}

func (b *broken) Write(ctx context.Context, account string, fn func(worker.Tx) error) error {
	b.writes.Add(1)
	return b.Store.Write(ctx, account, func(tx worker.Tx) error {
		if b.change != nil {
			tx = b.change(tx)
		}
		return fn(tx)
	})
}

// unanswered is a worker's store whose first commit of claimed runs is never
// answered.
type unanswered struct {
	worker.Store
	broke atomic.Bool
}

func (u *unanswered) Write(ctx context.Context, account string, fn func(worker.Tx) error) error {
	claimed := false
	err := u.Store.Write(ctx, account, func(tx worker.Tx) error { return fn(claims{tx, &claimed}) })
	if err == nil && claimed && !u.broke.Swap(true) {
		return fault.New(fault.Unavailable, "The connection broke.")
	}
	return err
}

// claims notes that runs were claimed.
type claims struct {
	worker.Tx
	claimed *bool
}

func (c claims) ClaimRuns(ctx context.Context, lane, lease string, limit int) ([]worker.Claim, error) {
	found, err := c.Tx.ClaimRuns(ctx, lane, lease, limit)
	*c.claimed = len(found) > 0
	return found, err
}

func TestAClaimWithoutAnAnswerIsFound(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		run := storetest.Queue(t, db, newJob(t, db, account, "a"), 1)[0]
		r := newRig(t, db, func(w *worker.Worker) { w.Store = &unanswered{Store: db.Worker()} }).start(t)
		r.ended(t, account, run, "FAILED WORKER_LOST")
		if r.world.count("") != 0 {
			t.Error("it was sent")
		}
		r.settle(t, account)
	})
}

// poisoned refuses one outcome.
type poisoned struct {
	worker.Tx
	run string
}

func (p poisoned) FinishRuns(ctx context.Context, lease string, outcomes []worker.Outcome) ([]string, error) {
	for _, each := range outcomes {
		if each.Run == p.run && each.Status == jobs.Succeeded {
			return nil, errors.New("no such thing can be stored")
		}
	}
	return p.Tx.FinishRuns(ctx, lease, outcomes)
}

func TestAnOutcomeThatIsRefusedDoesNotKeepTheOthers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		runs := storetest.Queue(t, db, newJob(t, db, account, "a"), 16)
		store := &broken{Store: db.Worker(), change: func(tx worker.Tx) worker.Tx { return poisoned{tx, runs[7]} }}
		r := newRig(t, db, func(w *worker.Worker) { w.Store, w.Limits.Host = store, 32 })
		open := r.world.hold("a")
		r.start(t)
		storetest.Wait(t, soon, "the requests are made", func() bool { return r.world.inFlight("a") == 16 })
		open()
		for i, run := range runs {
			want := "SUCCEEDED"
			if i == 7 {
				want = "FAILED WORKER_LOST"
			}
			r.ended(t, account, run, want)
		}
	})
}

func TestOutcomesAndClaimsAreBatched(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		const runs = 400
		db := storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		storetest.Queue(t, db, newJob(t, db, account, "a"), runs)
		store := &broken{Store: db.Worker()}
		r := newRig(t, db, func(w *worker.Worker) {
			w.Store, w.Limits = store, worker.Limits{Node: runs, Account: runs, Host: 2 * runs}
			w.Pace.Beat = soon // it would be counted
		})
		open := r.world.hold("a")
		r.start(t)
		storetest.Wait(t, soon, "the requests are made", func() bool { return r.world.inFlight("a") == runs })
		open()
		storetest.Wait(t, soon, "all runs are done", func() bool { return r.ledger.count("SUCCEEDED") == runs })
		if writes := store.writes.Load(); writes > runs/4 {
			t.Errorf("%d runs took %d transactions", runs, writes)
		}
	})
}

func TestAConfigurationThatCannotBeReadFailsItsRunOnly(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		job := newJob(t, db, account, "a")
		if _, err := database.Raw(t).ExecContext(t.Context(), `UPDATE job_requests SET sealed = $1`, []byte("damaged")); err != nil {
			t.Fatal(err)
		}
		damaged := storetest.Queue(t, db, job, 1)[0]
		r := newRig(t, db).start(t)
		r.settle(t, account)
		storetest.Wait(t, soon, "the run is counted", func() bool { return r.ledger.count("FAILED CONNECTION_ERROR") == 1 })
		var detail string
		err := database.Raw(t).QueryRowContext(t.Context(), `SELECT error FROM runs WHERE id = $1`, damaged).Scan(&detail)
		if err != nil || !strings.Contains(detail, "cannot be read") {
			t.Errorf("it says %q, %v", detail, err)
		}
	})
}

func TestTheQueueIsMeasured(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	storetest.Queue(t, db, newJob(t, db, account, "a"), 7)
	r := newRig(t, db, func(w *worker.Worker) { w.Limits = worker.Limits{} }).start(t)
	storetest.Wait(t, soon, "seven wait", func() bool {
		r.ledger.mu.Lock()
		defer r.ledger.mu.Unlock()
		return r.ledger.depth == 7
	})
}
