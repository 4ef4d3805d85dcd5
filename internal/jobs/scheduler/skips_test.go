package scheduler_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/scheduler"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// TestScheduler_SkipsPastPendingLimit: an account at its limit skips its due
// times, and other accounts do not. When there is capacity again, the job fires as usual.
func TestScheduler_SkipsPastPendingLimit(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		const limit = 3
		c := newClock()
		db := c.open(t, database)
		account, other := storetest.NewTenant(t, db, "pro").Account.ID, storetest.NewTenant(t, db, "pro").Account.ID
		minute := c.now().Truncate(time.Minute)
		for i := range limit + 2 {
			newJob(t, db, account, fmt.Sprint("j", i), "* * * * *", minute.Add(time.Duration(i)*time.Microsecond)) // in this order
		}
		newJob(t, db, account, "once", "now", minute.Add(time.Second))
		newJob(t, db, other, "j", "* * * * *", minute)
		r := startOn(t, db, db.Scheduler(), limit)
		r.check(t)
		for key, skipped := range map[string]bool{"j0": false, "j2": false, "j3": true, "j4": true, "once": true} {
			t.Run(key, func(t *testing.T) {
				job := readJob(t, db, account, key)
				if runs := runsOf(t, db, account, key); (len(runs) == 0) != skipped || (job.SkippedAt != nil) != skipped {
					t.Errorf("%s has %d runs and skipped at %v", key, len(runs), job.SkippedAt)
				}
			})
		}
		if job := readJob(t, db, account, "j4"); !job.SkippedAt.Equal(minute.Add(4*time.Microsecond)) || !job.Enabled || !job.NextRunAt.Equal(minute.Add(time.Minute)) {
			t.Errorf("after a skip it is %+v", job)
		}
		if job := readJob(t, db, account, "once"); job.Enabled || job.NextRunAt != nil {
			t.Errorf("a one-off that was skipped is %+v", job)
		}
		if runs := runsOf(t, db, other, "j"); len(runs) != 1 {
			t.Errorf("another account has %d runs", len(runs))
		}
		for range 3 { // in the next minute all are skipped
			c.move(10 * time.Second)
			r.check(t)
		}
		r.Stop()
		if lines := strings.Count(r.log.String(), "too many pending runs"); r.skips != 3+limit+2 || lines != 1 {
			t.Errorf("%d skips were reported in %d lines: %s", r.skips, lines, r.log.String())
		}
		claimAll(t, db, account)
		c.move(time.Minute)
		startOn(t, db, db.Scheduler(), limit).check(t)
		if runs := runsOf(t, db, account, "j0"); len(runs) != 2 {
			t.Errorf("%d runs after there was capacity again", len(runs))
		}
	})
}

// claimAll makes all pending runs of an account run.
func claimAll(t *testing.T, db *store.DB, account string) {
	t.Helper()
	err := db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.ClaimRuns(ctx, jobs.Lane(account, "a:80"), "boot", 100)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// writingStore knows whether a transaction writes.
type writingStore struct {
	scheduler.Store
	writing *atomic.Bool
}

func (w writingStore) Write(ctx context.Context, account string, fn func(context.Context, scheduler.Tx) error) error {
	return w.Store.Write(ctx, account, func(ctx context.Context, tx scheduler.Tx) error {
		w.writing.Store(true)
		defer w.writing.Store(false)
		return fn(ctx, tx)
	})
}

// countingStore counts how often runs are counted, and how often while a transaction writes.
type countingStore struct {
	jobs.Store
	writing       *atomic.Bool
	reads, inside atomic.Int64
}

func (c *countingStore) Read(ctx context.Context, fn func(context.Context, jobs.ReadTx) error) error {
	if c.reads.Add(1); c.writing.Load() {
		c.inside.Add(1)
	}
	return c.Store.Read(ctx, fn)
}

// TestScheduler_CountsBetweenTransactions: pending runs of all accounts are counted at
// once, and no transaction is open meanwhile.
func TestScheduler_CountsBetweenTransactions(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		c := newClock()
		db := c.open(t, database)
		accounts := make([]string, batch/2)
		for i := range accounts {
			accounts[i] = storetest.NewTenant(t, db, "pro").Account.ID
			newJob(t, db, accounts[i], "j", "* * * * *", c.now())
		}
		var writing atomic.Bool
		loops := &countingStore{Store: db.Jobs().ForLoops(), writing: &writing}
		backlog := &jobs.Backlog{Requests: db.Jobs(), Loops: loops, Limit: jobs.MaxPending, Now: time.Now}
		startWith(t, writingStore{db.Scheduler(), &writing}, backlog).check(t)
		for _, account := range accounts {
			if runs := runsOf(t, db, account, "j"); len(runs) != 1 {
				t.Errorf("an account has %d runs", len(runs))
			}
		}
		if reads, inside := loops.reads.Load(), loops.inside.Load(); reads != 1 || inside != 0 {
			t.Errorf("runs of %d accounts were counted with %d reads, %d of them in a transaction", len(accounts), reads, inside)
		}
	})
}

// TestScheduler_SlowCount: a count that takes longer than it is good for is used, not repeated.
func TestScheduler_SlowCount(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := c.open(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	newJob(t, db, account, "fires", "* * * * *", c.now())
	newJob(t, db, account, "skips", "* * * * *", c.now())
	var hours atomic.Int64
	everLater := func() time.Time { return time.Unix(0, 0).Add(time.Duration(hours.Add(1)) * time.Hour) }
	r := startWith(t, db.Scheduler(), &jobs.Backlog{Requests: db.Jobs(), Loops: db.Jobs().ForLoops(), Limit: 1, Now: everLater})
	r.check(t)
	if r.Stop(); len(r.lags) != 1 || r.skips != 1 {
		t.Errorf("%d jobs fired and %d were skipped", len(r.lags), r.skips)
	}
}
