package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

type transactions = store.Transactions[*store.ReadTx, *store.Tx]

// queue holds writers that wait behind a writer that occupies the account.
type queue struct {
	*store.DB

	leave   func()
	waiting int
	running sync.WaitGroup
	mu      sync.Mutex
	order   []string
}

// newQueue occupies an account, and with it SQLite's writer.
func newQueue(t *testing.T, db *store.DB, account string) *queue {
	t.Helper()
	q := &queue{DB: db}
	occupants := 1
	if db.Name() == "postgres" {
		occupants = store.GateWidth
	}
	entered, free := make(chan struct{}, occupants), make(chan struct{})
	for range occupants {
		q.running.Go(func() {
			if err := db.Write(t.Context(), account, func(context.Context, *store.Tx) error {
				entered <- struct{}{}
				<-free
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	<-entered
	if occupants > 1 {
		storetest.Wait(t, soon, "the account is occupied", func() bool { return db.Pools()["postgres"]().InUse == occupants })
	}
	q.leave = sync.OnceFunc(func() {
		close(free)
		q.running.Wait()
	})
	return q
}

// add starts a writer and returns once it is waiting.
func (q *queue) add(t *testing.T, via transactions, account, name string) {
	t.Helper()
	q.running.Go(func() {
		if err := via.Write(t.Context(), account, func(context.Context, *store.Tx) error {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.order = append(q.order, name)
			return nil
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
	q.waiting++
	storetest.Wait(t, soon, name+" waits", func() bool { return q.Waiting() == q.waiting })
}

func TestSQLite_LoopsThenDecisionsThenObservations(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "sqlite").Open(t)
	loops, decisions, observations := db.Priorities()
	q := newQueue(t, db, "")
	defer q.leave()
	for range 2 {
		q.add(t, observations, "", "observation")
		q.add(t, decisions, "", "decision")
		q.add(t, loops, "", "loop")
	}
	q.leave()
	if got := strings.Join(q.order, " "); got != "loop loop decision decision observation observation" {
		t.Errorf("they ran in the order %s", got)
	}
}

func TestSQLite_ObservationsAreNotStarved(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "sqlite").Open(t, func(options *store.Options) { options.Limits.Group = 1 })
	_, decisions, observations := db.Priorities()
	q := newQueue(t, db, "")
	defer q.leave()
	for range 20 {
		q.add(t, decisions, "", "decision")
	}
	q.add(t, observations, "", "observation")
	q.leave()
	if place := slices.Index(q.order, "observation"); place > 10 {
		t.Errorf("the observation was number %d", place)
	}
}

// admissions queues transactions at a gate and returns the order in which they pass.
func admissions(t *testing.T, waiting string) (order string) {
	t.Helper()
	gate := store.NewGate()
	for range store.GateWidth {
		if err := gate.Enter(t.Context(), "account", 'd'); err != nil {
			t.Fatal(err)
		}
	}
	passed := make(chan rune)
	for i, kind := range waiting {
		go func() {
			_ = gate.Enter(t.Context(), "account", kind)
			passed <- kind
		}()
		storetest.Wait(t, soon, "it waits", func() bool { return gate.Waiting() == i+1 })
	}
	for range waiting {
		gate.Leave("account")
		order += string(<-passed)
	}
	return order
}

func TestAccountGate_Order(t *testing.T) {
	t.Parallel()
	if order := admissions(t, "odlodl"); order != "llddoo" {
		t.Errorf("loops, decisions and observations pass in the order %s", order)
	}
	if order := admissions(t, "ddddddddddo"); strings.Index(order, "o") > 8 {
		t.Errorf("an observation is starved: %s", order)
	}
}

func TestAccountGate_Deadline(t *testing.T) {
	t.Parallel()
	gate := store.NewGate()
	ctx, cancel := context.WithCancel(t.Context())
	for range store.GateWidth {
		_ = gate.Enter(ctx, "account", 'd')
	}
	cancel()
	if err := gate.Enter(ctx, "account", 'd'); !errors.Is(err, context.Canceled) || gate.Waiting() != 0 {
		t.Errorf("got %v, and %d wait", err, gate.Waiting())
	}
	for range store.GateWidth {
		gate.Leave("account")
	}
	if gate.Accounts() != 0 {
		t.Errorf("%d accounts are remembered", gate.Accounts())
	}
}

func TestSQLite_AccountsTakeTurns(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "sqlite").Open(t)
	_, decisions, _ := db.Priorities()
	q := newQueue(t, db, "")
	defer q.leave()
	for _, account := range []string{"a", "a", "a", "a", "b", "b", "c"} {
		q.add(t, decisions, account, account)
	}
	q.leave()
	if got := strings.Join(q.order, " "); got != "a b c a b a a" {
		t.Errorf("they ran in the order %s", got)
	}
}

func TestPostgres_BusyAccountLeavesConnections(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "postgres").Open(t)
	busy, other := storetest.NewTenant(t, db, "pro").Account.ID, storetest.NewTenant(t, db, "pro").Account.ID
	_, decisions, _ := db.Priorities()
	q := newQueue(t, db, busy)
	defer q.leave()
	for i := range 40 {
		q.add(t, decisions, busy, fmt.Sprint(i))
	}
	if err := db.Write(t.Context(), other, insert(other, "e")); err != nil {
		t.Error(err)
	}
	if inUse := inUse(db); inUse > store.GateWidth {
		t.Errorf("%d connections are in use", inUse)
	}
}

func TestWrite_DeadlineWhileQueued(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		q := newQueue(t, db, account)
		defer q.leave()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if err := db.Write(ctx, account, insert(account, "late")); !fault.Is(err, fault.Unavailable) {
			t.Errorf("got %v", err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		waiting := make(chan error, 1)
		go func() { waiting <- db.Write(ctx, account, insert(account, "late")) }()
		storetest.Wait(t, soon, "the writer waits", func() bool { return q.Waiting() == 1 })
		cancel()
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if q.Waiting() != 0 {
			t.Errorf("%d still wait", q.Waiting())
		}
		q.leave()
		if err := db.Write(t.Context(), account, insert(account, "later")); err != nil || holds(t, db, account, "late") {
			t.Errorf("it was written after its deadline, or the next got %v", err)
		}
	})
}

func TestSQLite_WriteLimitWhileQueued(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "sqlite").Open(t, func(options *store.Options) { options.Limits.Write = 200 * time.Millisecond })
	q := newQueue(t, db, "")
	defer q.leave()
	if err := db.Write(t.Context(), "", func(context.Context, *store.Tx) error { return nil }); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
}

// Small writes and heartbeats must wait for at most two large reports: the one that is being
// written and the one whose turn is next.
func TestSQLite_ReportsDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	const reports, rows = 60, 200
	db := storetest.New(t, "sqlite").Open(t, func(options *store.Options) { options.Limits.Write = time.Hour })
	account := storetest.NewTenant(t, db, "pro").Account.ID
	loops, decisions, observations := db.Priorities()
	var begun, running atomic.Int64
	var reporting sync.WaitGroup
	for i := range reports {
		running.Add(1)
		reporting.Go(func() {
			defer running.Add(-1)
			made := make([]environments.Environment, rows)
			for j := range made {
				made[j] = environments.Environment{Account: account, Key: fmt.Sprint(i, "-", j)}
			}
			if err := observations.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
				begun.Add(1)
				return tx.InsertEnvironments(ctx, made...)
			}); err != nil {
				t.Error(err)
			}
		})
	}
	storetest.Wait(t, soon, "all report", func() bool { return begun.Load() > 0 && db.Waiting() > reports/2 })
	var passed []int64 // reports, while a small write waited
	for i := 0; running.Load() > 0; i++ {
		for name, small := range map[string]struct {
			to      store.Transactions[*store.ReadTx, *store.Tx]
			account string
			write   func(context.Context, *store.Tx) error
		}{
			"a heartbeat": {loops, "", func(ctx context.Context, tx *store.Tx) error { return tx.Beat(ctx, "boot", "node") }},
			"a decision":  {decisions, account, insert(account, fmt.Sprint("small-", i))},
		} {
			before, waited := begun.Load(), int64(0)
			if err := small.to.Write(t.Context(), small.account, func(ctx context.Context, tx *store.Tx) error {
				waited = begun.Load() - before // later the test itself may be kept waiting
				return small.write(ctx, tx)
			}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			passed = append(passed, waited)
		}
	}
	reporting.Wait()
	slices.Sort(passed)
	if median := passed[len(passed)/2]; median > 3 { // not all: the test itself may be kept waiting
		t.Errorf("small writes waited for %v reports", passed)
	}
}
