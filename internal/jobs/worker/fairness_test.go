package worker_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestNoLimitIsExceeded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		r := newRig(t, db, func(w *worker.Worker) { w.Limits = worker.Limits{Node: 20, Account: 8, Host: 3} })
		var opens []func()
		for i := range 3 {
			account := storetest.NewTenant(t, db, "pro").Account.ID
			for j := range 5 {
				for _, host := range []string{fmt.Sprintf("a%d-%d", i, j), "shared"} {
					storetest.Queue(t, db, newJob(t, db, account, host), 10)
					opens = append(opens, r.world.hold(host))
				}
			}
		}
		r.start(t)
		storetest.Wait(t, soon, "the node is full", func() bool { return r.world.inFlight("all") == 20 })
		for i := range 3 {
			own := r.world.inFlight("shared")
			for j := range 5 {
				own += r.world.inFlight(fmt.Sprintf("a%d-%d", i, j))
			}
			if own > 8+3 { // those to the shared host may be another's
				t.Errorf("account %d has %d in flight", i, own)
			}
		}
		for _, open := range opens {
			open()
		}
		storetest.Wait(t, soon, "all runs are done", func() bool { return unfinished(t, db) == 0 })
		if r.world.peak("all") > 20 || r.world.peak("shared") > 3 || r.world.peak("a1-1") > 3 {
			t.Errorf("at once: %d, %d to one host, %d to another", r.world.peak("all"), r.world.peak("shared"), r.world.peak("a1-1"))
		}
	})
}

// The account's bound holds although each of its hosts has room.
func TestAnAccountCannotHaveTheWholeNode(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		r := newRig(t, db, func(w *worker.Worker) { w.Limits = worker.Limits{Node: 32, Account: 8, Host: 6} })
		account := storetest.NewTenant(t, db, "pro").Account.ID
		for i := range 6 {
			host := fmt.Sprint("h", i)
			r.world.hold(host)
			storetest.Queue(t, db, newJob(t, db, account, host), 10)
		}
		other := storetest.NewTenant(t, db, "pro").Account.ID
		storetest.Queue(t, db, newJob(t, db, other, "quick"), 30)
		r.start(t)
		storetest.Wait(t, soon, "the other account is served", func() bool { return r.world.count("quick") == 30 })
		storetest.Wait(t, soon, "the account has its share", func() bool { return r.world.inFlight("all") == 8 })
		if r.world.count("h") != 8 {
			t.Errorf("%d requests of the account were made", r.world.count("h"))
		}
	})
}

func TestSlowHostsDoNotKeepOthersWaiting(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		r := newRig(t, db, func(w *worker.Worker) { w.Limits = worker.Limits{Node: 64, Account: 64, Host: 1} })
		for i := range 40 { // more than one claim looks at, and first in the order
			host := fmt.Sprintf("a%02d", i)
			r.world.hold(host)
			storetest.Queue(t, db, newJob(t, db, account, host), 5)
		}
		for i := range 4 {
			storetest.Queue(t, db, newJob(t, db, account, fmt.Sprint("z", i)), 25)
		}
		r.start(t)
		storetest.Wait(t, soon, "the others are served", func() bool { return r.world.count("z") == 100 })
		storetest.Wait(t, soon, "each slow host has one", func() bool { return r.world.inFlight("all") == 40 })
	})
}

func TestALongQueueDoesNotKeepAShortOneWaiting(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		const many = 10_000
		db := storetest.OpenSealed(t, database)
		r := newRig(t, db, func(w *worker.Worker) { w.Limits = worker.Limits{Node: 16, Account: 16, Host: 16} })
		large, small := storetest.NewTenant(t, db, "pro").Account.ID, storetest.NewTenant(t, db, "pro").Account.ID
		storetest.Queue(t, db, newJob(t, db, large, "one.host"), many)
		last := storetest.Queue(t, db, newJob(t, db, small, "one.host"), 1)[0]
		r.world.hold("one.host") // so it is served with the first, or never
		r.start(t)
		storetest.Wait(t, soon, "the short queue is served", func() bool { return slices.Contains(r.world.order(), last) })
	})
}

// Accounts that cannot be served now must not hide those that can.
func TestManyBlockedAccountsDoNotHideOthers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		r := newRig(t, db, func(w *worker.Worker) { w.Limits = worker.Limits{Node: 64, Account: 64, Host: 2} })
		r.world.hold("popular")
		for i := range 70 {
			account := storetest.NewTenant(t, db, "pro").Account.ID
			storetest.Queue(t, db, newJob(t, db, account, "popular"), 2)
			if i >= 66 {
				storetest.Queue(t, db, newJob(t, db, account, "rare"), 2)
			}
		}
		r.start(t)
		storetest.Wait(t, soon, "the others are served", func() bool { return r.world.count("rare") == 8 })
	})
}

// Whoever waits for a host gets some of the room that becomes free there,
// however many runs the others have, and wherever its account is in the order.
func TestAFloodToAHostDoesNotKeepOtherAccountsFromIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		r := newRig(t, db, func(w *worker.Worker) { w.Limits = worker.Limits{Node: 64, Account: 32, Host: 1} })
		accounts := make([]string, 3)
		for i := range accounts {
			accounts[i] = storetest.NewTenant(t, db, "pro").Account.ID
		}
		slices.Sort(accounts)
		flood := newJob(t, db, accounts[0], "one.host")
		storetest.Queue(t, db, flood, 2000)
		storetest.Queue(t, db, newJob(t, db, accounts[1], "one.host"), 2000)
		last := storetest.Queue(t, db, newJob(t, db, accounts[2], "one.host"), 5)
		r.start(t)
		storetest.Wait(t, soon, "many runs are done", func() bool { return r.world.count("") > 200 })
		order := r.world.order()
		for _, run := range last {
			if place := slices.Index(order, run); place < 0 {
				t.Fatalf("of %d runs none was run %s of the account that is last in the order", len(order), run)
			}
		}
	})
}

// A host that answers slowly is not all one account's.
func TestAccountsShareAHost(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		r := newRig(t, db, func(w *worker.Worker) { w.Limits = worker.Limits{Node: 64, Account: 64, Host: 16} })
		r.world.hold("one.host")
		first, second := storetest.NewTenant(t, db, "pro").Account.ID, storetest.NewTenant(t, db, "pro").Account.ID
		storetest.Queue(t, db, newJob(t, db, first, "one.host"), 100)
		r.start(t)
		storetest.Wait(t, soon, "one account has all but the rest", func() bool { return r.world.inFlight("one.host") == 14 })
		job := newJob(t, db, second, "one.host")
		storetest.Queue(t, db, job, 100)
		storetest.Wait(t, soon, "the rest is the other's", func() bool { return r.world.inFlight("one.host") == 16 })
		if got := r.world.countJob(job.Key); got != 2 {
			t.Errorf("the second account has %d requests in flight, want 2", got)
		}
	})
}

// counted counts the transactions that write.
type counted struct {
	worker.Store

	writes atomic.Int64
}

func (c *counted) Write(ctx context.Context, account string, fn func(worker.Tx) error) error {
	c.writes.Add(1)
	return c.Store.Write(ctx, account, fn)
}

// More accounts than one round looks at wait for a host that hangs: each look
// goes round once and then waits.
func TestNothingIsClaimedOverAndOverWhileHostsHang(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		store := &counted{Store: db.Worker()}
		r := newRig(t, db, func(w *worker.Worker) {
			w.Store, w.Limits = store, worker.Limits{Node: 64, Account: 64, Host: 2}
			w.Pace.Look, w.Pace.Beat = 500*time.Millisecond, 500*time.Millisecond
		})
		r.world.hold("slow")
		for range 40 {
			storetest.Queue(t, db, newJob(t, db, storetest.NewTenant(t, db, "pro").Account.ID, "slow"), 2)
		}
		r.start(t)
		storetest.Wait(t, soon, "the host has what it may have", func() bool { return r.world.inFlight("slow") == 2 })
		began, before := time.Now(), store.writes.Load()
		storetest.Wait(t, soon, "two seconds pass", func() bool { return time.Since(began) > 2*time.Second })
		writes := store.writes.Load() - before
		looks := 1 + int64(time.Since(began)/r.Pace.Look)
		if writes > 10*looks { // each has three or four rounds and a beat
			t.Errorf("%d transactions in %d looks in which nothing could be claimed", writes, looks)
		}
	})
}
