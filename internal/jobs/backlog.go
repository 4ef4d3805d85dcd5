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
	// countFor is how long a count stays valid: other nodes queue runs too.
	countFor = 5 * time.Second
	// countPause is the time between two counts of an account that is at its limit.
	countPause = 100 * time.Millisecond
	// maxCounts bounds the accounts that are remembered.
	maxCounts = 10_000
)

// Backlog bounds the pending runs of each account. Counting a long queue for every
// run would be slow, and with a counter in the database, writers would wait for each
// other. So a Backlog remembers the last count and adds the runs that this node has
// queued since. This is never too low for one node; several nodes may together exceed
// the limit by the runs that they queue in five seconds.
type Backlog struct {
	// Requests is the store for counts of requests, Loops for counts of the scheduler,
	// which must not wait for connections that requests have taken.
	Requests, Loops Store
	Limit           int
	// Now is time.Now or another monotonic clock.
	Now func() time.Time

	mu     sync.Mutex // never held during a query
	counts map[string]*pendingCount
	shared coalesce.Group[string, struct{}, struct{}] // counts that requests wait for
}

// pendingCount is an upper bound of the pending runs of an account.
type pendingCount struct {
	runs      int // pending, admitted ones included
	unsettled int // admitted, but not yet queued
	countedAt time.Time
}

// isGood reports whether the count was recent enough at an instant to decide about wanted runs.
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

// Admit admits up to wanted runs of an account for a request, and counts first if
// necessary. The caller must settle the admission.
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

// AdmitCounted admits up to wanted runs of each account without a query, for the
// scheduler's transaction. If accounts have no count that was good at an instant, it
// admits nothing and returns these accounts. The caller must settle the admission.
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
			continue // the account may have no count any more
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

// countShared counts the pending runs of an account once for all waiting requests. They
// share a failure too: if each retried in turn, the last request would wait for as many
// timeouts as there are requests.
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

// remember returns the counts of accounts as they are now, and adds missing ones.
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

// correct applies new counts. before has the counts from when counting began. Runs may
// have been admitted or settled since, so correct adds only the difference between the
// new count and the queued runs of before. A run that was queued during the count may be
// counted twice, but is never missed.
func (b *Backlog) correct(before map[string]pendingCount, pending map[string]int, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for account, was := range before {
		count := b.counts[account]
		if count == nil || !count.countedAt.Equal(was.countedAt) { // removed, or another count was faster
			continue
		}
		count.runs += pending[account] - (was.runs - was.unsettled)
		count.countedAt = at
	}
}
