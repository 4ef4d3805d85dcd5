package worker_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
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

// leaveBehind stores the row and the run of a worker that was killed.
func leaveBehind(t *testing.T, db *store.DB, account, boot, node string) (run string) {
	t.Helper()
	job := newJob(t, db, account, "dead")
	run = storetest.Queue(t, db, job, 1)[0]
	err := db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Beat(ctx, boot, node); err != nil {
			return err
		}
		_, err := tx.ClaimRuns(ctx, job.Lane(), boot, 1)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestLiveness_RunsOfDeadNodeAreLost(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		began := time.Now()
		run := leaveBehind(t, db, account, "dead", "elsewhere") // before anybody else can claim it
		r := newRig(t, db, func(w *worker.Worker) { w.Intervals.LostAfter = 500 * time.Millisecond }).start(t)
		r.ended(t, account, run, "FAILED WORKER_LOST")
		if took := time.Since(began); took < r.Intervals.LostAfter {
			t.Errorf("it was given up after %s", took)
		}
		if nodes(t, db) != 1 {
			t.Error("the dead node is still there")
		}
	})
}

func TestLiveness_PreviousBootIsLostAtOnce(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	run := leaveBehind(t, db, account, "previous", "this")
	other := leaveBehind(t, db, account, "other", "that")
	r := newRig(t, db, func(w *worker.Worker) { w.Node, w.Intervals.LostAfter = "this", time.Hour }).start(t) // as any other it would not be lost today
	r.ended(t, account, run, "FAILED WORKER_LOST")
	if got := outcome(storetest.ReadRun(t, db, account, other)); got != "RUNNING" {
		t.Errorf("the run of another node is %s", got)
	}
}

// A worker that waits for a database that is gone aborts its requests before
// the others conclude that it is gone, and reports when the database is back.
func TestLiveness_PartitionedNodeAbortsItsRequests(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	behind, proxy := database.ThroughProxy(t)
	near, far := storetest.OpenSealed(t, database), storetest.OpenSealed(t, behind)
	account := storetest.NewTenant(t, near, "pro").Account.ID
	mortal := func(w *worker.Worker) { // what is between is more than a busy machine pauses
		w.Intervals.AbortAfter, w.Intervals.LostAfter = time.Second, 4*time.Second
	}
	r := newRig(t, far, mortal).start(t)
	r.sender.hold("slow")
	run := storetest.Queue(t, near, newJob(t, near, account, "slow"), 1)[0]
	storetest.Wait(t, soon, "the request is made", func() bool { return r.sender.inFlight("slow") == 1 })
	witness := newRig(t, near, mortal, func(w *worker.Worker) { w.Limits = worker.Limits{} }).start(t) // it claims nothing
	storetest.Wait(t, soon, "both beat", func() bool { return nodes(t, near) == 2 })
	proxy.Down()
	lost := witness.ended(t, account, run, "FAILED WORKER_LOST")
	storetest.Wait(t, soon, "the request is aborted", func() bool { return r.sender.cause(run) != nil })
	if at := r.sender.abortedAt(run); !at.Before(*lost.FinishedAt) {
		t.Errorf("it was lost at %s and aborted at %s", lost.FinishedAt, at)
	}
	proxy.Up()
	job := newJob(t, near, account, "next")
	storetest.Wait(t, soon, "the worker works again", func() bool {
		return outcome(over(t, near, account, storetest.Queue(t, near, job, 1)[0])) == "SUCCEEDED"
	})
}

// impatient is a store that gives up writes soon.
type impatient struct{ worker.Store }

func (i impatient) Write(ctx context.Context, account string, fn func(context.Context, worker.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return i.Store.Write(ctx, account, fn)
}

func (i impatient) FinishRuns(ctx context.Context, lease string, outcomes []worker.Outcome) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return i.Store.FinishRuns(ctx, lease, outcomes)
}

// unavailable is a store that refuses writes while it is away.
type unavailable struct {
	worker.Store
	away, refused *atomic.Int64
}

func (u unavailable) Write(ctx context.Context, account string, fn func(context.Context, worker.Tx) error) error {
	if u.away.Load() > 0 {
		u.refused.Add(1)
		return fault.New(fault.Unavailable, "It is away.")
	}
	return u.Store.Write(ctx, account, fn)
}

// outage is a store that refuses writes, or everything, while it is away.
type outage struct {
	worker.Store
	readable      bool
	away          atomic.Bool
	looks, missed atomic.Int64 // reads of the heartbeats that worked, and those that did not
}

func (o *outage) Read(ctx context.Context, fn func(context.Context, worker.ReadTx) error) error {
	return o.Store.Read(ctx, func(ctx context.Context, tx worker.ReadTx) error { return fn(ctx, outageReads{tx, o}) })
}

func (o *outage) Write(ctx context.Context, account string, fn func(context.Context, worker.Tx) error) error {
	if o.away.Load() {
		return fault.New(fault.Unavailable, "It is away.")
	}
	return o.Store.Write(ctx, account, fn)
}

type outageReads struct {
	worker.ReadTx
	outage *outage
}

func (o outageReads) Nodes(ctx context.Context) ([]worker.Node, error) {
	if o.outage.away.Load() && !o.outage.readable {
		o.outage.missed.Add(1)
		return nil, fault.New(fault.Unavailable, "It is away.")
	}
	o.outage.looks.Add(1)
	return o.ReadTx.Nodes(ctx)
}

// After an outage that was longer than a worker may be silent, a node gives others the time to send a heartbeat.
func TestLiveness_OutageIsNoSilence(t *testing.T) {
	t.Parallel()
	for name, readable := range map[string]bool{"no answers": false, "reads only": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, database storetest.Database) {
				db := storetest.OpenSealed(t, database)
				account := storetest.NewTenant(t, db, "pro").Account.ID
				run := leaveBehind(t, db, account, "other", "elsewhere")
				outage, ahead := &outage{Store: db.Worker(), readable: readable}, atomic.Int64{}
				newRig(t, db, func(w *worker.Worker) {
					w.Store, w.Now = outage, func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
					w.Intervals.Heartbeat = 20 * time.Millisecond
				}).start(t)
				looks := func(count *atomic.Int64) {
					t.Helper()
					before := count.Load()
					storetest.Wait(t, soon, "the worker looks at the others", func() bool { return count.Load() >= before+3 })
				}
				looks(&outage.looks)
				outage.away.Store(true)
				ahead.Add(int64(time.Hour))
				if readable {
					looks(&outage.looks)
				} else {
					looks(&outage.missed)
				}
				outage.away.Store(false)
				looks(&outage.looks)
				if got := outcome(storetest.ReadRun(t, db, account, run)); got != "RUNNING" || nodes(t, db) != 2 {
					t.Errorf("the run of the other node is %s", got)
				}
			})
		})
	}
}

func TestLiveness_LogsEndOfOutageOnce(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	var away, refused atomic.Int64
	var logged bytes.Buffer
	r := newRig(t, db, func(w *worker.Worker) {
		w.Store, w.Log = unavailable{db.Worker(), &away, &refused}, slog.New(slog.NewTextHandler(&logged, nil))
		w.Intervals.Heartbeat = 10 * time.Millisecond
	}).start(t)
	for range 2 {
		before := beats(t, db)
		storetest.Wait(t, soon, "it beats", func() bool { return beats(t, db) > before })
		away.Store(1)
		refused.Store(0)
		storetest.Wait(t, soon, "heartbeats fail", func() bool { return refused.Load() > 5 })
		away.Store(0)
		before = beats(t, db)
		storetest.Wait(t, soon, "it beats again", func() bool { return beats(t, db) > before+2 })
	}
	r.stop(t.Context())
	// A busy machine causes further outages, and an outage of the test may begin during one of them.
	failed, back := strings.Count(logged.String(), "Heartbeat failed"), strings.Count(logged.String(), "The database is back")
	if failed < 2 || back != failed {
		t.Errorf("two outages were logged as %s", logged.String())
	}
}

func TestLiveness_SilentConnectionsCostNoRuns(t *testing.T) {
	t.Parallel()
	behind, proxy := storetest.New(t, "postgres").ThroughProxy(t)
	db := storetest.OpenSealed(t, behind)
	account := storetest.NewTenant(t, db, "pro").Account.ID
	r := newRig(t, db, func(w *worker.Worker) {
		w.Store = impatient{db.Worker()}
		w.Intervals.Heartbeat = 2 * time.Second // one has to connect anew in that time, on a busy machine too
		w.Intervals.AbortAfter, w.Intervals.LostAfter = 20*time.Second, 30*time.Second
	}).start(t)
	open := r.sender.hold("slow")
	run := storetest.Queue(t, db, newJob(t, db, account, "slow"), 1)[0]
	storetest.Wait(t, soon, "the request is made", func() bool { return r.sender.inFlight("slow") == 1 })
	before := beats(t, storetest.OpenSealed(t, behind))
	proxy.Stall()
	watching := storetest.OpenSealed(t, behind) // new connections work
	storetest.Wait(t, soon, "it beats on", func() bool { return beats(t, watching) > before+1 })
	open()
	storetest.Wait(t, soon, "the run is done", func() bool { return outcome(storetest.ReadRun(t, watching, account, run)) == "SUCCEEDED" })
}

func beats(t *testing.T, db *store.DB) (beat int64) {
	t.Helper()
	err := db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) error {
		found, err := tx.Nodes(ctx)
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

// hanging is a store whose reads hang until the test ends.
type hanging struct {
	worker.Store
	test context.Context //nolint:containedctx // it is the test's
}

func (h hanging) Read(ctx context.Context, fn func(context.Context, worker.ReadTx) error) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-h.test.Done():
		return h.Store.Read(ctx, fn)
	}
}

func TestLiveness_HangingReadsDoNotDelayHeartbeat(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	newRig(t, db, func(w *worker.Worker) { w.Store = hanging{db.Worker(), t.Context()} }).start(t)
	storetest.Wait(t, soon, "the worker beats", func() bool { return nodes(t, db) == 1 })
	first := beats(t, db)
	storetest.Wait(t, soon, "it goes on beating", func() bool { return beats(t, db) >= first+5 })
}

func TestOutcomes_KeptDuringOutage(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	behind, proxy := database.ThroughProxy(t)
	near, far := storetest.OpenSealed(t, database), storetest.OpenSealed(t, behind)
	account := storetest.NewTenant(t, near, "pro").Account.ID
	r := newRig(t, far).start(t)
	open := r.sender.hold("slow")
	runs := storetest.Queue(t, near, newJob(t, near, account, "slow"), 5)
	storetest.Wait(t, soon, "the requests are made", func() bool { return r.sender.inFlight("slow") == 5 })
	proxy.Down()
	open()
	storetest.Wait(t, soon, "the requests have ended", func() bool { return r.sender.inFlight("slow") == 0 })
	proxy.Up()
	r.db = near
	for _, run := range runs {
		r.ended(t, account, run, "SUCCEEDED")
	}
}

// counting is a worker's store that counts what writes.
type counting struct {
	worker.Store
	writes atomic.Int64
}

func (c *counting) Write(ctx context.Context, account string, fn func(context.Context, worker.Tx) error) error {
	c.writes.Add(1)
	return c.Store.Write(ctx, account, fn)
}

func (c *counting) FinishRuns(ctx context.Context, lease string, outcomes []worker.Outcome) ([]string, error) {
	c.writes.Add(1)
	return c.Store.FinishRuns(ctx, lease, outcomes)
}

// unanswered is a worker's store whose first commit of claimed runs is never
// answered.
type unanswered struct {
	worker.Store
	broke atomic.Bool
}

func (u *unanswered) Write(ctx context.Context, account string, fn func(context.Context, worker.Tx) error) error {
	claimed := false
	err := u.Store.Write(ctx, account, func(ctx context.Context, tx worker.Tx) error { return fn(ctx, claims{tx, &claimed}) })
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

func TestClaim_CommitWithoutAnswer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		run := storetest.Queue(t, db, newJob(t, db, account, "a"), 1)[0]
		r := newRig(t, db, func(w *worker.Worker) { w.Store = &unanswered{Store: db.Worker()} }).start(t)
		r.ended(t, account, run, "FAILED WORKER_LOST")
		if r.sender.count("") != 0 {
			t.Error("it was sent")
		}
		r.settle(t, account)
	})
}

// poisoned is a worker's store that refuses one outcome.
type poisoned struct {
	worker.Store
	run string
}

func (p poisoned) FinishRuns(ctx context.Context, lease string, outcomes []worker.Outcome) ([]string, error) {
	for _, each := range outcomes {
		if each.Run == p.run && each.Status == jobs.Succeeded {
			return nil, errors.New("no such thing can be stored")
		}
	}
	return p.Store.FinishRuns(ctx, lease, outcomes)
}

func TestOutcomes_RefusedOneDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	runs := storetest.Queue(t, db, newJob(t, db, account, "a"), 16)
	r := newRig(t, db, func(w *worker.Worker) { w.Store, w.Limits.Host = poisoned{db.Worker(), runs[7]}, 32 })
	open := r.sender.hold("a")
	r.start(t)
	storetest.Wait(t, soon, "the requests are made", func() bool { return r.sender.inFlight("a") == 16 })
	open()
	for i, run := range runs {
		want := "SUCCEEDED"
		if i == 7 {
			want = "FAILED WORKER_LOST"
		}
		r.ended(t, account, run, want)
	}
}

func TestWorker_BatchesOutcomesAndClaims(t *testing.T) {
	t.Parallel()
	const runs = 400
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	storetest.Queue(t, db, newJob(t, db, account, "a"), runs)
	store := &counting{Store: db.Worker()}
	r := newRig(t, db, func(w *worker.Worker) {
		w.Store, w.Limits = store, worker.Limits{Node: runs, Account: runs, Host: 2 * runs}
		w.Intervals.Heartbeat = soon // it would be counted
	})
	open := r.sender.hold("a")
	r.start(t)
	storetest.Wait(t, soon, "the requests are made", func() bool { return r.sender.inFlight("a") == runs })
	open()
	storetest.Wait(t, soon, "all runs are done", func() bool { return r.observer.count("SUCCEEDED") == runs })
	if writes := store.writes.Load(); writes > runs/4 {
		t.Errorf("%d runs took %d transactions", runs, writes)
	}
}

func TestConfigurations_DamagedFailsItsRunOnly(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	db := storetest.OpenSealed(t, database)
	account := storetest.NewTenant(t, db, "pro").Account.ID
	job := newJob(t, db, account, "a")
	if _, err := database.Raw(t).ExecContext(t.Context(), `UPDATE job_requests SET sealed = $1`, []byte("damaged")); err != nil {
		t.Fatal(err)
	}
	damaged := storetest.Queue(t, db, job, 1)[0]
	r := newRig(t, db).start(t)
	r.settle(t, account)
	storetest.Wait(t, soon, "the run is counted", func() bool { return r.observer.count("FAILED CONNECTION_ERROR") == 1 })
	var detail string
	err := database.Raw(t).QueryRowContext(t.Context(), `SELECT error FROM runs WHERE id = $1`, damaged).Scan(&detail)
	if err != nil || !strings.Contains(detail, "cannot be read") {
		t.Errorf("it says %q, %v", detail, err)
	}
}

// unreadable is a worker's store that does not read configurations until it is
// told to, and never in the transaction of a claim.
type unreadable struct {
	worker.Store
	t      *testing.T
	hangs  bool // instead of failing
	reads  atomic.Bool
	denied atomic.Int64
}

// noConfigurations is a transaction that does not read them.
type noConfigurations struct {
	worker.ReadTx
	store *unreadable
}

func (n noConfigurations) Configurations(ctx context.Context, ids []string) (map[string]jobs.Configuration, error) {
	if n.store.reads.Load() {
		return n.ReadTx.Configurations(ctx, ids)
	}
	n.store.denied.Add(1)
	if n.store.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, fault.New(fault.Unavailable, "The connection broke.")
}

func (u *unreadable) Read(ctx context.Context, fn func(context.Context, worker.ReadTx) error) error {
	return u.Store.Read(ctx, func(ctx context.Context, tx worker.ReadTx) error { return fn(ctx, noConfigurations{tx, u}) })
}

// writing is a transaction that must not take long.
type writing struct {
	worker.Tx
	t *testing.T
}

func (w writing) Configurations(context.Context, []string) (map[string]jobs.Configuration, error) {
	w.t.Error("configurations are read with the writer")
	return nil, nil
}

func (u *unreadable) Write(ctx context.Context, account string, fn func(context.Context, worker.Tx) error) error {
	return u.Store.Write(ctx, account, func(ctx context.Context, tx worker.Tx) error { return fn(ctx, writing{tx, u.t}) })
}

// When the configurations of claimed runs cannot be read, nothing is lost, nothing is sent twice,
// and a cancel or a stop does not wait for them.
func TestConfigurations_ReadAfterClaim(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	db := storetest.OpenSealed(t, database)
	account := storetest.NewTenant(t, db, "pro").Account.ID
	// claimed returns a worker that has claimed two runs and cannot read their configurations.
	claimed := func(t *testing.T, hangs bool) (r *rig, store *unreadable, runs []string) {
		store = &unreadable{Store: db.Worker(), t: t, hangs: hangs}
		r = newRig(t, db, func(w *worker.Worker) { w.Store = store })
		runs = storetest.Queue(t, db, newJob(t, db, account, "a"), 2)
		r.start(t)
		storetest.Wait(t, soon, "the runs are claimed", func() bool {
			return store.denied.Load() > 0 && storetest.ReadRun(t, db, account, runs[1]).Status == jobs.Running
		})
		return r, store, runs
	}
	t.Run("when the database is back, they are sent once", func(t *testing.T) {
		r, store, runs := claimed(t, false)
		storetest.Wait(t, soon, "it is tried again", func() bool { return store.denied.Load() > 2 })
		store.reads.Store(true)
		for _, run := range runs {
			r.ended(t, account, run, "SUCCEEDED")
		}
		if sent := r.sender.count(""); sent != 2 {
			t.Errorf("%d were sent", sent)
		}
	})
	t.Run("a canceled run is not sent", func(t *testing.T) {
		r, store, runs := claimed(t, false)
		cancel(t, db, account, runs[0])
		r.Abort(runs[0])
		store.reads.Store(true)
		r.ended(t, account, runs[1], "SUCCEEDED")
		r.stop(t.Context())
		if got := outcome(storetest.ReadRun(t, db, account, runs[0])); got != "CANCELED" || r.sender.count("") != 1 {
			t.Errorf("the run is %s, %d were sent", got, r.sender.count(""))
		}
	})
	t.Run("a worker that stops lets them finish", func(t *testing.T) {
		r, store, runs := claimed(t, false)
		stopped := make(chan struct{})
		go func() { defer close(stopped); r.stop(t.Context()) }()
		store.reads.Store(true)
		<-stopped
		for _, run := range runs {
			r.ended(t, account, run, "SUCCEEDED")
		}
	})
	t.Run("a worker that must end does not wait for them", func(t *testing.T) {
		r, _, runs := claimed(t, true)
		ended, end := context.WithCancel(t.Context())
		end()
		r.stop(ended)
		for _, run := range runs {
			r.ended(t, account, run, "FAILED WORKER_LOST")
		}
		if r.sender.count("") != 0 {
			t.Error("they were sent")
		}
	})
}

// refusing is a worker's store that cannot read one configuration, for a
// reason that will not go away.
type refusing struct {
	worker.Store
	configuration string
}

type refusingTx struct {
	worker.ReadTx
	configuration string
}

func (r refusing) Read(ctx context.Context, fn func(context.Context, worker.ReadTx) error) error {
	return r.Store.Read(ctx, func(ctx context.Context, tx worker.ReadTx) error { return fn(ctx, refusingTx{tx, r.configuration}) })
}

func (r refusingTx) Configurations(ctx context.Context, ids []string) (map[string]jobs.Configuration, error) {
	if slices.Contains(ids, r.configuration) {
		return nil, errors.New("the page is damaged")
	}
	return r.ReadTx.Configurations(ctx, ids)
}

func TestConfigurations_RefusedFailsItsRunsOnly(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	bad := newJob(t, db, account, "bad")
	failing := storetest.Queue(t, db, bad, 1)[0]
	var runs []string
	for range 5 { // they are read together
		runs = append(runs, storetest.Queue(t, db, newJob(t, db, account, "good"), 1)...)
	}
	r := newRig(t, db, func(w *worker.Worker) { w.Store = refusing{db.Worker(), bad.RequestID} }).start(t)
	for _, run := range runs {
		r.ended(t, account, run, "SUCCEEDED")
	}
	r.ended(t, account, failing, "FAILED CONNECTION_ERROR")
}

func TestWorker_MeasuresQueue(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	storetest.Queue(t, db, newJob(t, db, account, "a"), 7)
	r := newRig(t, db, func(w *worker.Worker) { w.Limits = worker.Limits{} }).start(t)
	storetest.Wait(t, soon, "seven wait", func() bool {
		r.observer.mu.Lock()
		defer r.observer.mu.Unlock()
		return r.observer.depth == 7
	})
}

// full is a store that refuses every write while the disk is full.
type full struct{ unavailable }

func (f full) FinishRuns(ctx context.Context, lease string, outcomes []worker.Outcome) ([]string, error) {
	if f.away.Load() > 0 {
		return nil, fault.New(fault.Unavailable, "No space is left.")
	}
	return f.Store.FinishRuns(ctx, lease, outcomes)
}

// A worker that is alone on its database loses no run while heartbeats fail, as on a full disk: no other node takes
// its runs over. It writes the outcomes of its requests when writes work again.
func TestLiveness_AloneKeepsItsRequests(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	var away, refused atomic.Int64
	r := newRig(t, db, func(w *worker.Worker) {
		w.Store, w.Alone = full{unavailable{db.Worker(), &away, &refused}}, true
		w.Intervals.Heartbeat, w.Intervals.AbortAfter, w.Intervals.LostAfter = 50*time.Millisecond, 200*time.Millisecond, 300*time.Millisecond
	}).start(t)
	open := map[string]func(){"during": r.sender.hold("during"), "after": r.sender.hold("after")}
	runs := map[string]string{}
	for host := range open {
		runs[host] = storetest.Queue(t, db, newJob(t, db, account, host), 1)[0]
		storetest.Wait(t, soon, "the request is made", func() bool { return r.sender.inFlight(host) == 1 })
	}
	away.Store(1)
	since := time.Now()
	storetest.Wait(t, soon, "heartbeats fail for long", func() bool { return refused.Load() > 20 && time.Since(since) > 3*r.Intervals.LostAfter })
	open["during"]()
	storetest.Wait(t, soon, "the request has ended", func() bool { return r.sender.inFlight("during") == 0 })
	away.Store(0)
	before := beats(t, db)
	storetest.Wait(t, soon, "it beats again", func() bool { return beats(t, db) > before+2 })
	open["after"]()
	for host, run := range runs {
		r.ended(t, account, run, "SUCCEEDED")
		if cause := r.sender.cause(run); cause != nil {
			t.Errorf("the request to %s was aborted: %v", host, cause)
		}
	}
	next := storetest.Queue(t, db, newJob(t, db, account, "next"), 1)[0]
	r.ended(t, account, next, "SUCCEEDED")
}

// A worker whose clock is wrong claims nothing, because it would write wrong times, and declares nobody lost.
func TestLiveness_PausedTakesAndLosesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		lost := leaveBehind(t, db, account, "dead", "elsewhere")
		own := leaveBehind(t, db, account, "previous", "this")
		pending := storetest.Queue(t, db, newJob(t, db, account, "a"), 1)[0]
		var wrong atomic.Bool
		var asked atomic.Int64
		wrong.Store(true)
		r := newRig(t, db, func(w *worker.Worker) {
			w.Node, w.Intervals.LostAfter = "this", 50*time.Millisecond
			w.Paused = func() bool {
				asked.Add(1)
				return wrong.Load()
			}
		}).start(t)
		began := time.Now()
		storetest.Wait(t, soon, "it beats, and has had time enough", func() bool {
			return nodes(t, db) == 3 && asked.Load() > 20 && time.Since(began) > 4*r.Intervals.LostAfter
		})
		for run, want := range map[string]string{lost: "RUNNING", own: "RUNNING", pending: "PENDING"} {
			if got := outcome(storetest.ReadRun(t, db, account, run)); got != want {
				t.Errorf("a run is %s and not %s", got, want)
			}
		}
		wrong.Store(false)
		for run, want := range map[string]string{lost: "FAILED WORKER_LOST", own: "FAILED WORKER_LOST", pending: "SUCCEEDED"} {
			r.ended(t, account, run, want)
		}
	})
}
