package jobs

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/coalesce"
	"github.com/signalbox/signalbox/internal/transaction"
)

// MaxPending is how many runs of an account may be pending.
const MaxPending = 100_000

const (
	// countFor is how long a count is good for: other nodes queue runs as well.
	countFor = 5 * time.Second
	// countPause is the time between two counts of an account that has too many.
	countPause = 100 * time.Millisecond
	// maxCounts bounds the accounts that are remembered.
	maxCounts = 10_000
)

// Backlog bounds the pending runs of each account. Counting a long queue for every
// run would be slow, and a counter in the database would make those who queue runs
// wait for each other. So a Backlog remembers the last count and adds what this node
// has queued since, which is never too low for one node; several may together exceed
// the limit by what they queue in five seconds.
type Backlog struct {
	// Requests and Loops are what requests and the scheduler count with: the
	// scheduler must not wait for connections that requests have taken.
	Requests, Loops Store
	Limit           int
	// Now is time.Now, or another clock that does not go back.
	Now func() time.Time

	mu     sync.Mutex // never held while the database is asked
	counts map[string]*pendingCount
	shared coalesce.Group[string, struct{}, struct{}] // counts that requests wait for
}

// pendingCount is about how many runs of an account are pending.
type pendingCount struct {
	runs      int // pending at most, those that are admitted included
	unsettled int // admitted, but not yet queued
	countedAt time.Time
}

// isGood reports whether the count was recent enough at an instant to admit runs.
func (c *pendingCount) isGood(at time.Time, wanted, limit int) bool {
	age := at.Sub(c.countedAt)
	full := c.runs+wanted > limit
	return age < countFor && (!full || age < countPause)
}

// Admission is how many runs may be queued.
type Admission struct {
	Runs    map[string]int // by account
	backlog *Backlog
}

// Admit admits up to wanted runs of an account for a request, and counts first if it
// has to. The caller settles the admission.
func (b *Backlog) Admit(ctx context.Context, account string, wanted int) (Admission, error) {
	for at := b.Now(); ; {
		admission, uncounted := b.AdmitCounted(at, map[string]int{account: wanted})
		if len(uncounted) == 0 {
			return admission, nil
		}
		if err := b.countShared(ctx, account); err != nil {
			return Admission{}, err
		}
	}
}

// AdmitCounted admits up to so many runs of each account without asking the database,
// for the scheduler's transaction. If it lacks counts that were good at an instant, it
// admits none and returns which. The caller settles the admission.
func (b *Backlog) AdmitCounted(at time.Time, wanted map[string]int) (admitted Admission, uncounted []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for account, runs := range wanted {
		if count := b.counts[account]; count == nil || !count.isGood(at, runs, b.Limit) {
			uncounted = append(uncounted, account)
		}
	}
	if len(uncounted) > 0 {
		return Admission{}, uncounted
	}
	admitted = Admission{Runs: make(map[string]int, len(wanted)), backlog: b}
	for account, runs := range wanted {
		count := b.counts[account]
		runs = min(runs, max(0, b.Limit-count.runs))
		count.runs += runs
		count.unsettled += runs
		admitted.Runs[account] = runs
	}
	return admitted, nil
}

// Settle records that the runs were queued, or that they were not.
func (a Admission) Settle(queued bool) {
	if a.backlog == nil {
		return
	}
	a.backlog.mu.Lock()
	defer a.backlog.mu.Unlock()
	for account, runs := range a.Runs {
		if runs == 0 {
			continue // the account may be forgotten
		}
		count := a.backlog.counts[account]
		if count.unsettled -= runs; !queued {
			count.runs -= runs
		}
	}
}

// Count counts the pending runs of accounts for the scheduler.
func (b *Backlog) Count(ctx context.Context, accounts []string) error {
	return b.count(ctx, b.Loops, accounts)
}

// countShared counts the pending runs of an account once for all requests that need it
// at the time. They share a failure too: if each tried again in turn, the last of them
// would wait for as many timeouts as there are requests.
func (b *Backlog) countShared(ctx context.Context, account string) error {
	_, err := b.shared.Share(ctx, account, struct{}{}, func(ctx context.Context, _ []struct{}) (struct{}, error) {
		return struct{}{}, b.count(ctx, b.Requests, []string{account})
	})
	return err
}

// count counts the pending runs of accounts in one statement.
func (b *Backlog) count(ctx context.Context, store Store, accounts []string) error {
	at, before := b.Now(), b.remember(accounts)
	pending, err := transaction.Read(ctx, store, func(ctx context.Context, tx ReadTx) (map[string]int, error) {
		return tx.PendingRuns(ctx, accounts, b.Limit)
	})
	if err == nil {
		b.correct(before, pending, at)
	}
	return err
}

// remember returns what is known of accounts, which are remembered from now on.
func (b *Backlog) remember(accounts []string) map[string]pendingCount {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.counts == nil {
		b.counts = map[string]*pendingCount{}
	}
	if len(b.counts) >= maxCounts {
		maps.DeleteFunc(b.counts, func(_ string, count *pendingCount) bool { return count.unsettled == 0 })
	}
	known := make(map[string]pendingCount, len(accounts))
	for _, account := range accounts {
		if b.counts[account] == nil {
			b.counts[account] = &pendingCount{}
		}
		known[account] = *b.counts[account]
	}
	return known
}

// correct applies counts to what was known when they began. Runs were admitted and
// settled meanwhile, so only the error of what was taken for queued is corrected: a run
// that was queued during the count is counted twice rather than not at all.
func (b *Backlog) correct(before map[string]pendingCount, pending map[string]int, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for account, was := range before {
		count := b.counts[account]
		if count == nil || !count.countedAt.Equal(was.countedAt) { // forgotten, or another count was faster
			continue
		}
		count.runs += pending[account] - (was.runs - was.unsettled)
		count.countedAt = at
	}
}
