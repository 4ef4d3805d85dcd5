package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/scheduler"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	// soon is more than anything here takes.
	soon = time.Minute
	// batch is the batch size of these tests.
	batch = 50
)

// clock is a store's clock that a test sets.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2031, 5, 6, 7, 8, 30, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(by)
}

// open opens a database whose clock the test sets.
func (c *clock) open(t *testing.T, database storetest.Database) *store.DB {
	t.Helper()
	return storetest.OpenSealed(t, database, func(options *store.Options) { options.Now = c.now })
}

// rig is a scheduler that records its reports.
type rig struct {
	*scheduler.Scheduler

	mu     sync.Mutex
	lags   []time.Duration
	ticks  int
	queued int
	skips  int
	log    strings.Builder
}

// start runs a scheduler until the end of the test.
func start(t *testing.T, db *store.DB) *rig {
	t.Helper()
	return startOn(t, db, db.Scheduler(), jobs.MaxPending)
}

func startOn(t *testing.T, db *store.DB, on scheduler.Store, pending int) *rig {
	t.Helper()
	return startWith(t, on, &jobs.Backlog{Requests: db.Jobs(), Loops: db.Jobs().ForLoops(), Limit: pending, Now: time.Now})
}

func startWith(t *testing.T, on scheduler.Store, backlog *jobs.Backlog) *rig {
	t.Helper()
	r := newRig(on, backlog)
	r.start(t)
	return r
}

// newRig makes a scheduler that has not started.
func newRig(on scheduler.Store, backlog *jobs.Backlog) *rig {
	r := &rig{}
	note := func(change func()) {
		r.mu.Lock()
		defer r.mu.Unlock()
		change()
	}
	r.Scheduler = &scheduler.Scheduler{Store: on, Log: slog.New(slog.NewTextHandler(&r.log, nil)), Batch: batch,
		Backlog: backlog,
		Skipped: func(instants int) { note(func() { r.skips += instants }) },
		Queued:  func() { note(func() { r.queued++ }) },
		Fired:   func(lag time.Duration) { note(func() { r.lags = append(r.lags, lag) }) },
		Ticked:  func(time.Time) { note(func() { r.ticks++ }) }}
	return r
}

// start runs the scheduler until the end of the test.
func (r *rig) start(t *testing.T) {
	t.Helper()
	r.Start(t.Context())
	t.Cleanup(r.Stop)
}

// check wakes the scheduler and waits until it has fired what is due.
func (r *rig) check(t *testing.T) {
	t.Helper()
	// It may be in the middle of a check. The second check finds the due jobs, the third the
	// jobs that a review has corrected, and the last one begins when all have fired.
	for range 4 {
		before := r.checks()
		r.Wake()
		storetest.Wait(t, soon, "the scheduler has checked", func() bool { return r.checks() > before })
	}
}

func (r *rig) checks() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ticks
}

// newJob creates a job that is due at an instant.
func newJob(t *testing.T, db *store.DB, account, key, schedule string, due time.Time) jobs.Job {
	t.Helper()
	job := storetest.NewJob(account, key, "http://a/")
	job.Schedule, job.NextRunAt = schedule, &due
	storetest.AddJobs(t, db, job)
	return job
}

func runsOf(t *testing.T, db *store.DB, account, key string) []jobs.Run {
	t.Helper()
	var tail page.Tail[jobs.Run]
	err := db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) (err error) {
		tail, err = tx.Runs(ctx, account, jobs.RunFilter{Job: key}, page.Cursor{Size: 1000})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tail.Items
}

func readJob(t *testing.T, db *store.DB, account, key string) (job jobs.Job) {
	t.Helper()
	err := db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) (err error) {
		job, err = tx.Job(ctx, account, key)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func TestScheduler_ThreeNodesFireEachJobOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		const count = 2*batch + 30 // several batches
		c := newClock()
		db := c.open(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		due := c.now().Truncate(time.Minute)
		all := make([]jobs.Job, count)
		for i := range all {
			all[i] = storetest.NewJob(account, fmt.Sprint("j", i), "http://a/")
			all[i].NextRunAt = &due
		}
		storetest.AddJobs(t, db, all...)
		var rigs []*rig
		for range 3 {
			rigs = append(rigs, start(t, c.open(t, database)))
		}
		pending := func() (count int) {
			err := db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) (err error) {
				count, err = tx.CountPending(ctx, 1_000_000)
				return err
			})
			if err != nil && !fault.Is(err, fault.Unavailable) { // a busy machine
				t.Fatal(err)
			}
			return count
		}
		storetest.Wait(t, soon, "all jobs have fired", func() bool { return pending() == count })
		for _, each := range rigs {
			each.check(t)
		}
		if got := pending(); got != count {
			t.Errorf("%d jobs made %d runs", count, got)
		}
		fired := 0
		for _, each := range rigs {
			each.Stop()
			fired += len(each.lags)
			for _, lag := range each.lags {
				if lag != 30*time.Second {
					t.Fatalf("a job fired %s late", lag)
				}
			}
		}
		if fired != count {
			t.Errorf("%d firings were reported", fired)
		}
		if next := readJob(t, db, account, "j7").NextRunAt; !next.Equal(due.Add(time.Minute)) {
			t.Errorf("the next is at %s", next)
		}
	})
}

func TestScheduler_FiresLatestOfMissedInstants(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := c.open(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	minute := c.now().Truncate(time.Minute)
	newJob(t, db, account, "often", "* * * * *", minute.Add(-3*time.Hour))
	newJob(t, db, account, "daily", "0 6 * * *", minute.Add(-26*time.Hour))
	start(t, db).check(t)
	for key, want := range map[string]time.Time{"often": minute, "daily": time.Date(2031, 5, 6, 6, 0, 0, 0, time.UTC)} {
		t.Run(key, func(t *testing.T) {
			runs := runsOf(t, db, account, key)
			if len(runs) != 1 || !runs[0].ScheduledFor.Equal(want) || runs[0].Trigger != jobs.OnSchedule || runs[0].Status != jobs.Pending {
				t.Errorf("%s has %+v", key, runs)
			}
			if job := readJob(t, db, account, key); !job.NextRunAt.After(c.now()) || job.Version != 1 || !job.UpdatedAt.Before(c.now()) {
				t.Errorf("%s is %+v", key, job)
			}
		})
	}
}

func TestScheduler_OneOffDisablesItself(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		c := newClock()
		db := c.open(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		if err := db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error { return tx.AddActiveJobs(ctx, account, 5) }); err != nil {
			t.Fatal(err)
		}
		newJob(t, db, account, "dated", "2031-05-06T07:08:00Z", c.now().Add(-30*time.Second))
		newJob(t, db, account, "now", jobs.Now, c.now())
		newJob(t, db, account, "later", "2031-05-06T07:10:00Z", c.now().Add(90*time.Second))
		r := start(t, db)
		r.check(t)
		r.check(t)
		for key, want := range map[string]int{"dated": 1, "now": 1, "later": 0} {
			t.Run(key, func(t *testing.T) {
				job := readJob(t, db, account, key)
				if got := len(runsOf(t, db, account, key)); got != want || job.Enabled == (want == 1) || (job.NextRunAt == nil) != (want == 1) {
					t.Errorf("%s has %d runs and is %+v", key, got, job)
				}
			})
		}
		active := 0
		err := db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) (err error) {
			active, err = tx.ActiveJobs(ctx, account)
			return err
		})
		if err != nil || active != 3 {
			t.Errorf("%d of 5 are active, %v", active, err)
		}
	})
}

// An instant fires once, wherever the clock goes.
func TestScheduler_ClockJumps(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := c.open(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	minute := c.now().Truncate(time.Minute)
	newJob(t, db, account, "j", "* * * * *", minute)
	r := start(t, db)
	want := []time.Time{minute}
	for _, step := range []struct {
		by    time.Duration
		fires bool
	}{{0, true}, {0, false}, {-2 * time.Hour, false}, {2 * time.Hour, false}, {time.Minute, true}, {5 * time.Hour, true}, {-5 * time.Hour, false}, {5*time.Hour + time.Minute, true}} {
		c.move(step.by)
		r.check(t)
		if step.fires && step.by > 0 {
			want = append(want, c.now().Truncate(time.Minute))
		}
		runs := runsOf(t, db, account, "j")
		if len(runs) != len(want) || !runs[0].ScheduledFor.Equal(want[len(want)-1]) {
			t.Fatalf("after %s there are %d runs, want %v", step.by, len(runs), want)
		}
	}
}

// Somebody sets the clock back, and a job to an instant it has had.
// A node whose clock is wrong fires nothing and corrects no schedule, also when the clock goes wrong after a look at what
// is due.
func TestScheduler_Paused(t *testing.T) {
	t.Parallel()
	for name, right := range map[string]int64{"before": 0, "after the look": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			db := c.open(t, storetest.New(t, "sqlite"))
			account := storetest.NewTenant(t, db, "pro").Account.ID
			newJob(t, db, account, "due", "* * * * *", c.now().Add(-time.Minute))
			newJob(t, db, account, "later", "* * * * *", c.now().Add(time.Hour)) // a review would correct it
			var asked atomic.Int64
			r := newRig(db.Scheduler(), &jobs.Backlog{Requests: db.Jobs(), Loops: db.Jobs().ForLoops(), Limit: jobs.MaxPending, Now: time.Now})
			r.Paused = func() bool { return asked.Add(1) > right }
			r.start(t)
			for range 3 {
				before := asked.Load()
				r.Wake()
				storetest.Wait(t, soon, "the scheduler has asked", func() bool { return asked.Load() > before })
			}
			r.Stop()
			if runs := runsOf(t, db, account, "due"); len(runs) != 0 {
				t.Errorf("it fired %d times", len(runs))
			}
			if next := readJob(t, db, account, "later").NextRunAt; !next.Equal(c.now().Add(time.Hour)) {
				t.Errorf("the other job is due at %s", next)
			}
		})
	}
}

func TestScheduler_InstantFiresOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		c := newClock()
		db := c.open(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		minute := c.now().Truncate(time.Minute)
		job := newJob(t, db, account, "j", "* * * * *", minute)
		r := start(t, db)
		for range 3 {
			r.check(t)
			job.NextRunAt = &minute
			if err := db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateJob(ctx, job) }); err != nil {
				t.Fatal(err)
			}
		}
		if runs := runsOf(t, db, account, "j"); len(runs) != 1 {
			t.Errorf("there are %d runs", len(runs))
		}
	})
}

func TestScheduler_DeletedOrDisabledJob(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := c.open(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	due := c.now().Add(time.Minute)
	deleted, disabled := newJob(t, db, account, "deleted", "* * * * *", due), newJob(t, db, account, "disabled", "* * * * *", due)
	newJob(t, db, account, "fires", "* * * * *", due)
	disabled.Enabled, disabled.NextRunAt = false, nil
	err := db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.UpdateJob(ctx, disabled); err != nil {
			return err
		}
		_, err := tx.DeleteJob(ctx, deleted, tx.Now())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	c.move(2 * time.Minute)
	start(t, db).check(t)
	for key, want := range map[string]int{"deleted": 0, "disabled": 0, "fires": 1} {
		t.Run(key, func(t *testing.T) {
			if got := len(runsOf(t, db, account, key)); got != want {
				t.Errorf("%s has %d runs", key, got)
			}
		})
	}
}

// It fires a job without being woken.
func TestScheduler_SleepsUntilDue(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	r := start(t, db)
	newJob(t, db, account, "j", jobs.Now, time.Now().Add(300*time.Millisecond))
	storetest.Wait(t, soon, "the job has fired", func() bool { return len(runsOf(t, db, account, "j")) == 1 })
	r.check(t) // the run is visible before the scheduler knows that its commit succeeded
	r.Stop()
	if len(r.lags) != 1 || r.lags[0] < 0 || r.queued != 1 {
		t.Errorf("it reported the lags %v and queued runs %d times", r.lags, r.queued)
	}
}

func TestScheduler_SurvivesOutage(t *testing.T) {
	t.Parallel()
	c, database := newClock(), storetest.New(t, "postgres")
	behind, proxy := database.ThroughProxy(t)
	near, far := c.open(t, database), c.open(t, behind)
	account := storetest.NewTenant(t, near, "pro").Account.ID
	r := start(t, far)
	r.check(t)
	proxy.Down()
	newJob(t, near, account, "j", "* * * * *", c.now().Add(-time.Hour))
	r.Wake()
	proxy.Up()
	storetest.Wait(t, soon, "the job has fired", func() bool { return len(runsOf(t, near, account, "j")) == 1 })
}

// On PostgreSQL, a transaction that runs a job by hand must not keep it from
// firing, and one that changes the job must not fail one that runs it.
func TestScheduler_FiresWhileJobIsRunByHand(t *testing.T) {
	t.Parallel()
	c, database := newClock(), storetest.New(t, "postgres")
	db := c.open(t, database)
	account := storetest.NewTenant(t, db, "pro").Account.ID
	job := newJob(t, db, account, "j", "* * * * *", c.now().Add(-time.Hour))
	err := db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error {
		if _, err := tx.JobToRun(ctx, account, "j"); err != nil {
			return err
		}
		start(t, db)
		storetest.Wait(t, soon, "the job has fired", func() bool { return len(runsOf(t, db, account, "j")) == 1 })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	err = db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
		changed, err := tx.JobToChange(ctx, account, "j")
		if err != nil {
			return err
		}
		changed.RequestID = changed.UID // another configuration
		go func() {
			ran <- db.Write(context.WithoutCancel(ctx), "", func(ctx context.Context, tx *store.Tx) error { _, err := tx.JobToRun(ctx, account, "j"); return err })
		}()
		storetest.Wait(t, soon, "the other waits", func() bool { return waiting(t, database) })
		if err := tx.InsertJobRequest(ctx, changed); err != nil {
			return err
		}
		return tx.UpdateJob(ctx, changed)
	})
	if got := <-ran; err != nil || got != nil {
		t.Errorf("changing: %v; running: %v; the job %s", err, got, job.Key)
	}
}

// waiting reports whether a transaction waits for a lock.
func waiting(t *testing.T, database storetest.Database) bool {
	t.Helper()
	var count int
	err := database.Raw(t).QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&count)
	return err == nil && count > 0
}

func TestScheduler_NodesComeAndGo(t *testing.T) {
	t.Parallel()
	count, minutes := suite.Scale(2*batch+20, 1000), suite.Scale(6, 12)
	c, database := newClock(), storetest.New(t, "postgres")
	db := c.open(t, database)
	account := storetest.NewTenant(t, db, "pro").Account.ID
	first := c.now().Truncate(time.Minute)
	all := make([]jobs.Job, count)
	for i := range all {
		all[i] = storetest.NewJob(account, fmt.Sprint("j", i), "http://a/")
		all[i].NextRunAt = &first
	}
	storetest.AddJobs(t, db, all...)
	nodes := []*rig{start(t, c.open(t, database)), start(t, c.open(t, database)), start(t, c.open(t, database))}
	raw := database.Raw(t)
	number := func(query string) (count int) {
		if err := raw.QueryRowContext(t.Context(), query).Scan(&count); err != nil {
			t.Fatal(err)
		}
		return count
	}
	for minute := range minutes {
		for _, node := range nodes {
			node.Wake()
		}
		leaving := nodes[minute%3]
		leaving.Stop() // in the middle of its work
		storetest.Wait(t, soon, "all jobs have fired", func() bool { return number(`SELECT count(*) FROM runs`) >= (minute+1)*count })
		nodes[minute%3] = start(t, c.open(t, database))
		c.move(time.Minute)
	}
	for _, node := range nodes {
		node.Stop()
	}
	instants := number(`SELECT count(DISTINCT (job_uid, scheduled_for)) FROM runs WHERE scheduled_for IS NOT NULL`)
	if runs := number(`SELECT count(*) FROM runs`); runs != instants || runs < minutes*count || runs > (minutes+1)*count {
		t.Errorf("%d runs for %d instants of %d jobs in %d minutes", runs, instants, count, minutes)
	}
}

func TestReview_ClockWentAheadAndCameBack(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := c.open(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	began := c.now()
	next := func(key string) time.Time { return *readJob(t, db, account, key).NextRunAt }
	newJob(t, db, account, "often", "* * * * *", began.Add(30*time.Second))
	newJob(t, db, account, "yearly", "0 0 1 1 *", time.Date(2032, 1, 1, 0, 0, 0, 0, time.UTC))
	newJob(t, db, account, "once", "2050-01-01T00:00:00Z", time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC))
	newJob(t, db, account, "left", "* * * * *", began.AddDate(5, 0, 0)) // by a node that is gone
	newJob(t, db, account, "at once", "now", began.AddDate(5, 0, 0))
	r := start(t, db)
	r.check(t)
	if runs := runsOf(t, db, account, "at once"); len(runs) != 1 {
		t.Errorf("the job that fires at once has %d runs", len(runs))
	}
	if got, want := next("left"), began.Add(30*time.Second); !got.Equal(want) {
		t.Errorf("at the start: the job fires at %s, want %s", got, want)
	}
	c.move(24 * time.Hour * 365 * 3)
	r.check(t)
	if len(runsOf(t, db, account, "often")) != 1 || next("often").Before(began.AddDate(2, 0, 0)) {
		t.Fatalf("it did not fire ahead: next is %s", next("often"))
	}
	c.move(-24 * time.Hour * 365 * 3)
	r.check(t)
	if got, want := next("often"), began.Add(30*time.Second); !got.Equal(want) {
		t.Errorf("the job fires at %s, want %s", got, want)
	}
	if next("yearly").Year() != 2032 || next("once").Year() != 2050 {
		t.Errorf("the yearly job fires at %s, the other at %s", next("yearly"), next("once"))
	}
	c.move(30 * time.Second)
	r.check(t)
	if runs := runsOf(t, db, account, "often"); len(runs) != 2 {
		t.Errorf("it has %d runs, want 2", len(runs))
	}
}

// While its clock is wrong, a node still answers requests, and what they write has the time of that clock.
func TestReview_AfterWrongClock(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := c.open(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	var wrong atomic.Bool
	var asked atomic.Int64
	r := newRig(db.Scheduler(), &jobs.Backlog{Requests: db.Jobs(), Loops: db.Jobs().ForLoops(), Limit: jobs.MaxPending, Now: time.Now})
	r.Paused = func() bool {
		asked.Add(1)
		return wrong.Load()
	}
	r.start(t)
	r.check(t)
	wrong.Store(true)
	before := asked.Load()
	r.Wake()
	storetest.Wait(t, soon, "the scheduler has noticed", func() bool { return asked.Load() > before })
	newJob(t, db, account, "at once", "now", c.now().AddDate(1, 0, 0))
	newJob(t, db, account, "often", "* * * * *", c.now().AddDate(1, 0, 0))
	wrong.Store(false)
	r.Wake()
	storetest.Wait(t, soon, "it has fired", func() bool { return len(runsOf(t, db, account, "at once")) == 1 })
	storetest.Wait(t, soon, "the other job is corrected", func() bool {
		return readJob(t, db, account, "often").NextRunAt.Before(c.now().Add(time.Hour))
	})
	r.Stop()
}

// watched is a store that calls reviewing when a scheduler reviews jobs.
type watched struct {
	scheduler.Store
	reviewing func()
}

func (w watched) Read(ctx context.Context, fn func(context.Context, scheduler.ReadTx) error) error {
	return w.Store.Read(ctx, func(ctx context.Context, tx scheduler.ReadTx) error { return fn(ctx, watchedTx{tx, w.reviewing}) })
}

type watchedTx struct {
	scheduler.ReadTx
	reviewing func()
}

func (w watchedTx) Upcoming(ctx context.Context, at time.Time, after string, limit int) ([]jobs.Due, error) {
	w.reviewing()
	return w.ReadTx.Upcoming(ctx, at, after, limit)
}

func TestReview_DoesNotDelayDueJobs(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := c.open(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	all := make([]jobs.Job, 2*batch+30) // several batches
	tomorrow := c.now().Truncate(24 * time.Hour).Add(24 * time.Hour)
	for i := range all {
		all[i] = storetest.NewJob(account, fmt.Sprint("j", i), "http://a/")
		all[i].Schedule, all[i].NextRunAt = "0 0 * * *", &tomorrow
	}
	storetest.AddJobs(t, db, all...)
	newJob(t, db, account, "urgent", "* * * * *", c.now().Truncate(time.Minute).Add(time.Minute))

	batches, firedAtThird := 0, 0
	reviewed := make(chan struct{})
	startOn(t, db, watched{db.Scheduler(), func() {
		switch batches++; batches {
		case 1:
			c.move(time.Minute)
		case 3:
			firedAtThird = len(runsOf(t, db, account, "urgent"))
			close(reviewed)
		}
	}}, jobs.MaxPending)
	select {
	case <-reviewed:
	case <-time.After(soon):
		t.Fatal("there was no third batch")
	}
	if firedAtThird != 1 {
		t.Errorf("the urgent job had fired %d times before the review was over", firedAtThird)
	}
}
