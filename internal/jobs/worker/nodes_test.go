package worker_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// TestClaim_ManyNodes simulates a cluster: many workers, each with connections of its own, claim a backlog on one PostgreSQL. The
// requests are simulated, the statements are real. It checks that no run is sent twice and that a large account does not hold up
// small ones, and logs what claiming costs; docs/capacity.md has the figures of the long form.
func TestClaim_ManyNodes(t *testing.T) {
	t.Parallel()
	storetest.Need(t, "postgres")
	for _, nodes := range suite.Scale([]int{4}, []int{1, 10, 100}) {
		t.Run(fmt.Sprint(nodes, " nodes"), func(t *testing.T) {
			c := newCluster(t, nodes, suite.Scale(20, 1000))
			began := time.Now()
			for _, each := range c.nodes {
				each.start(t)
			}
			storetest.Wait(t, 5*soon, "all runs are done", func() bool { return unfinished(t, c.db) == 0 })
			took := time.Since(began)
			c.check(t)
			t.Logf("%d nodes: %d runs in %s, %.0f a second; %s; the small accounts were done after %.0f %% of the runs", nodes, c.runs,
				took.Round(time.Millisecond), float64(c.runs)/took.Seconds(), c.claims, 100*c.smallDone())
		})
	}
}

// smallAccounts wait beside one large account, which has as many runs as all of them together.
const smallAccounts = 9

// cluster is workers that share a database and a target.
type cluster struct {
	db     *store.DB
	nodes  []*rig
	sender *sender
	claims *claimLog
	runs   int
	small  map[string]bool // runs of small accounts
}

// newCluster queues runs: each small account gets some for each of two hosts.
func newCluster(t *testing.T, nodes, each int) *cluster {
	t.Helper()
	database := storetest.New(t, "postgres")
	c := &cluster{db: storetest.OpenSealed(t, database), sender: newSender(), claims: &claimLog{}, small: map[string]bool{}}
	for i := range smallAccounts + 1 {
		count := each
		if i == 0 {
			count = smallAccounts * each
		}
		account := storetest.NewTenant(t, c.db, "pro").Account.ID
		for host := range 2 {
			ids := storetest.Queue(t, c.db, newJob(t, c.db, account, fmt.Sprintf("host%d-%d", i, host)), count)
			c.runs += count
			for _, id := range ids {
				c.small[id] = i > 0
			}
		}
	}
	for range nodes {
		const connections = 8 // the worker uses a quarter of them
		db := storetest.OpenSealed(t, database, func(o *store.Options) { o.Connections = connections })
		c.nodes = append(c.nodes, newRig(t, db, func(w *worker.Worker) {
			w.Store, w.Sender = observedStore{w.Store, c.claims}, c.sender
			w.Intervals = worker.Intervals{Heartbeat: 2 * time.Second, AbortAfter: 5 * soon, LostAfter: 6 * soon, CancelCheck: time.Second,
				Poll: time.Second, Backlog: time.Millisecond, Write: 8 * time.Millisecond} // the real ones, but no node is declared lost
		}))
	}
	return c
}

// check fails the test if a run was sent twice, or if small accounts waited for the large one. If accounts take turns,
// the small ones are done when about as many runs of the large one are done as of each of them: after half of all runs and a bit.
func (c *cluster) check(t *testing.T) {
	t.Helper()
	sent := c.sender.order()
	slices.Sort(sent)
	if distinct := len(slices.Compact(slices.Clone(sent))); len(sent) != c.runs || distinct != c.runs {
		t.Errorf("%d requests were sent for %d of %d runs", len(sent), distinct, c.runs)
	}
	if done := c.smallDone(); done > 0.9 {
		t.Errorf("the small accounts were done after %.0f %% of the runs", 100*done)
	}
}

// smallDone returns the share of the runs that were sent when all runs of small accounts were.
func (c *cluster) smallDone() float64 {
	order := c.sender.order()
	for i, run := range slices.Backward(order) {
		if c.small[run] {
			return float64(i+1) / float64(len(order))
		}
	}
	return 0
}

// claimLog counts what claiming transactions did.
type claimLog struct {
	mu                      sync.Mutex
	took                    []time.Duration
	statements, runs, empty int
}

// String describes the claims.
func (c *claimLog) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.took) == 0 {
		return "no claims"
	}
	slices.Sort(c.took)
	return fmt.Sprintf("%d transactions that claimed (p50 %s, p99 %s) %.1f runs each; %d of %d claiming statements found every run of their lane taken", len(c.took),
		c.took[len(c.took)/2].Round(100*time.Microsecond), c.took[len(c.took)*99/100].Round(100*time.Microsecond), float64(c.runs)/float64(len(c.took)), c.empty, c.statements)
}

// observedStore is the store of a worker whose claims are counted.
type observedStore struct {
	worker.Store

	claims *claimLog
}

// Write counts a transaction that claims.
func (s observedStore) Write(ctx context.Context, account string, fn func(context.Context, worker.Tx) error) error {
	began, seen := time.Now(), &observedTx{}
	err := s.Store.Write(ctx, account, func(ctx context.Context, tx worker.Tx) error {
		*seen = observedTx{Tx: tx} // it may be repeated
		return fn(ctx, seen)
	})
	if err == nil && seen.statements > 0 {
		s.claims.mu.Lock()
		defer s.claims.mu.Unlock()
		s.claims.took = append(s.claims.took, time.Since(began))
		s.claims.statements += seen.statements
		s.claims.runs += seen.runs
		s.claims.empty += seen.empty
	}
	return err
}

type observedTx struct {
	worker.Tx

	statements, runs, empty int
}

// ClaimRuns counts the statement and its runs.
func (tx *observedTx) ClaimRuns(ctx context.Context, lane, lease string, limit int) ([]worker.Claim, error) {
	claimed, err := tx.Tx.ClaimRuns(ctx, lane, lease, limit)
	tx.statements++
	tx.runs += len(claimed)
	if len(claimed) == 0 {
		tx.empty++
	}
	return claimed, err
}
