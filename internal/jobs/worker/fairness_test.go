package worker_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

func TestClaim_KeepsLimits(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		r := newRig(t, db, func(w *worker.Worker) { w.Limits = worker.Limits{Node: 20, Account: 8, Host: 3} })
		var opens []func()
		for i := range 3 {
			account := storetest.NewTenant(t, db, "pro").Account.ID
			for j := range 5 {
				for _, host := range []string{fmt.Sprintf("a%d-%d", i, j), "shared"} {
					storetest.Queue(t, db, newJob(t, db, account, host), 4)
					opens = append(opens, r.sender.hold(host))
				}
			}
		}
		r.start(t)
		storetest.Wait(t, soon, "the node is full", func() bool { return r.sender.inFlight("all") == 20 })
		for i := range 3 {
			own := r.sender.inFlight("shared")
			for j := range 5 {
				own += r.sender.inFlight(fmt.Sprintf("a%d-%d", i, j))
			}
			if own > 8+3 { // runs to the shared host may be another account's
				t.Errorf("account %d has %d in flight", i, own)
			}
		}
		for _, open := range opens {
			open()
		}
		storetest.Wait(t, soon, "all runs are done", func() bool { return unfinished(t, db) == 0 })
		if r.sender.peak("all") > 20 || r.sender.peak("shared") > 3 || r.sender.peak("a1-1") > 3 {
			t.Errorf("at once: %d, %d to one host, %d to another", r.sender.peak("all"), r.sender.peak("shared"), r.sender.peak("a1-1"))
		}
	})
}

// The account's bound holds although each of its hosts has room.
func TestClaim_AccountLimitAcrossHosts(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	r := newRig(t, db, func(w *worker.Worker) { w.Limits = worker.Limits{Node: 32, Account: 8, Host: 6} })
	account := storetest.NewTenant(t, db, "pro").Account.ID
	for i := range 6 {
		host := fmt.Sprint("h", i)
		r.sender.hold(host)
		storetest.Queue(t, db, newJob(t, db, account, host), 10)
	}
	other := storetest.NewTenant(t, db, "pro").Account.ID
	storetest.Queue(t, db, newJob(t, db, other, "quick"), 30)
	r.start(t)
	storetest.Wait(t, soon, "the other account is served", func() bool { return r.sender.count("quick") == 30 })
	storetest.Wait(t, soon, "the account has its share", func() bool { return r.sender.inFlight("all") == 8 })
	if r.sender.count("h") != 8 {
		t.Errorf("%d requests of the account were made", r.sender.count("h"))
	}
}

func TestClaim_SlowHostsDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	r := newRig(t, db, func(w *worker.Worker) { w.Limits = worker.Limits{Node: 64, Account: 64, Host: 1} })
	for i := range 40 { // more than one claim looks at, and first in the order
		host := fmt.Sprintf("a%02d", i)
		r.sender.hold(host)
		storetest.Queue(t, db, newJob(t, db, account, host), 2)
	}
	for i := range 4 {
		storetest.Queue(t, db, newJob(t, db, account, fmt.Sprint("z", i)), 5)
	}
	r.start(t)
	storetest.Wait(t, soon, "the others are served", func() bool { return r.sender.count("z") == 20 })
	storetest.Wait(t, soon, "each slow host has one", func() bool { return r.sender.inFlight("all") == 40 })
}

func TestClaim_LongQueueDoesNotDelayShortOne(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	r := newRig(t, db, func(w *worker.Worker) { w.Limits = worker.Limits{Node: 16, Account: 16, Host: 16} })
	large, small := storetest.NewTenant(t, db, "pro").Account.ID, storetest.NewTenant(t, db, "pro").Account.ID
	storetest.Queue(t, db, newJob(t, db, large, "one.host"), suite.Scale(500, 10_000))
	last := storetest.Queue(t, db, newJob(t, db, small, "one.host"), 1)[0]
	r.sender.hold("one.host") // so it is served with the first, or never
	r.start(t)
	storetest.Wait(t, soon, "the short queue is served", func() bool { return slices.Contains(r.sender.order(), last) })
}

// Accounts that cannot be served now do not hide accounts that can.
func TestClaim_BlockedAccountsDoNotHideOthers(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	r := newRig(t, db, func(w *worker.Worker) { w.Limits = worker.Limits{Node: 64, Account: 64, Host: 2} })
	r.sender.hold("popular")
	for i := range 70 { // more than two rounds cover
		account := storetest.NewTenant(t, db, "pro").Account.ID
		storetest.Queue(t, db, newJob(t, db, account, "popular"), 2)
		if i >= 66 {
			storetest.Queue(t, db, newJob(t, db, account, "rare"), 2)
		}
	}
	r.start(t)
	storetest.Wait(t, soon, "the others are served", func() bool { return r.sender.count("rare") == 8 })
}

// An account that waits for a host gets a share of the capacity that becomes free there, however
// many runs the others have, and wherever the account is in the order.
func TestClaim_FloodToHostDoesNotStarveAccounts(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	r := newRig(t, db, func(w *worker.Worker) { w.Limits = worker.Limits{Node: 64, Account: 32, Host: 1} })
	accounts := make([]string, 3)
	for i := range accounts {
		accounts[i] = storetest.NewTenant(t, db, "pro").Account.ID
	}
	slices.Sort(accounts)
	flood := newJob(t, db, accounts[0], "one.host")
	storetest.Queue(t, db, flood, suite.Scale(300, 2000))
	storetest.Queue(t, db, newJob(t, db, accounts[1], "one.host"), suite.Scale(300, 2000))
	last := storetest.Queue(t, db, newJob(t, db, accounts[2], "one.host"), 5)
	r.start(t)
	storetest.Wait(t, soon, "many runs are done", func() bool { return r.sender.count("") > 200 })
	order := r.sender.order()
	for _, run := range last {
		if place := slices.Index(order, run); place < 0 {
			t.Fatalf("of %d runs none was run %s of the account that is last in the order", len(order), run)
		}
	}
}

// A host that answers slowly is not all one account's.
func TestClaim_SharesHostBetweenAccounts(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	r := newRig(t, db, func(w *worker.Worker) { w.Limits = worker.Limits{Node: 64, Account: 64, Host: 16} })
	r.sender.hold("one.host")
	first, second := storetest.NewTenant(t, db, "pro").Account.ID, storetest.NewTenant(t, db, "pro").Account.ID
	storetest.Queue(t, db, newJob(t, db, first, "one.host"), 100)
	r.start(t)
	storetest.Wait(t, soon, "one account has all but the rest", func() bool { return r.sender.inFlight("one.host") == 14 })
	job := newJob(t, db, second, "one.host")
	storetest.Queue(t, db, job, 100)
	storetest.Wait(t, soon, "the rest is the other's", func() bool { return r.sender.inFlight("one.host") == 16 })
	if got := r.sender.countJob(job.Key); got != 2 {
		t.Errorf("the second account has %d requests in flight, want 2", got)
	}
}

// claimCounter counts claims and heartbeats.
type claimCounter struct {
	worker.Store
	claims, heartbeats atomic.Int64
}

func (c *claimCounter) Write(ctx context.Context, account string, fn func(context.Context, worker.Tx) error) error {
	return c.Store.Write(ctx, account, func(ctx context.Context, tx worker.Tx) error { return fn(ctx, countedTx{tx, c}) })
}

type countedTx struct {
	worker.Tx
	counter *claimCounter
}

func (c countedTx) Lives(ctx context.Context, boot string) (bool, error) {
	c.counter.claims.Add(1)
	return c.Tx.Lives(ctx, boot)
}

func (c countedTx) Beat(ctx context.Context, boot, node string) error {
	c.counter.heartbeats.Add(1)
	return c.Tx.Beat(ctx, boot, node)
}

// More accounts than one round covers wait for a host that hangs: a poll covers
// each of them once and then waits. Heartbeats, which have the same interval,
// count the polls.
func TestClaim_WaitsWhileHostsHang(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	counter := &claimCounter{Store: db.Worker()}
	r := newRig(t, db, func(w *worker.Worker) {
		w.Store, w.Limits = counter, worker.Limits{Node: 64, Account: 64, Host: 2}
		w.Intervals.Poll = w.Intervals.Heartbeat
	})
	r.sender.hold("slow")
	for range 40 {
		storetest.Queue(t, db, newJob(t, db, storetest.NewTenant(t, db, "pro").Account.ID, "slow"), 2)
	}
	r.start(t)
	storetest.Wait(t, soon, "the host has what it may have", func() bool { return r.sender.inFlight("slow") == 2 })
	claims, heartbeats := counter.claims.Load(), counter.heartbeats.Load()
	storetest.Wait(t, soon, "some polls have passed", func() bool { return counter.heartbeats.Load() >= heartbeats+4 })
	claims, heartbeats = counter.claims.Load()-claims, counter.heartbeats.Load()-heartbeats
	if claims > 10*heartbeats { // each poll has three or four rounds
		t.Errorf("%d rounds in about %d polls in which nothing could be claimed", claims, heartbeats)
	}
}
