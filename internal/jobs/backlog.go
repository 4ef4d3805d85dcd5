package jobs

import (
	"context"
	"sync"
	"time"

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
	Store Store
	Limit int
	Now   func() time.Time

	mu     sync.Mutex
	counts map[string]*pendingCount // by account
}

// pendingCount is about how many runs of an account are pending.
type pendingCount struct {
	mu        sync.Mutex
	runs      int // pending at most, those that are admitted included
	unsettled int // admitted, but not yet queued
	countedAt time.Time
}

// Admission is a number of runs that may be queued.
type Admission struct {
	Runs  int
	count *pendingCount
}

// Admit admits up to wanted runs of an account. The caller settles the admission.
func (b *Backlog) Admit(ctx context.Context, account string, wanted int) (Admission, error) {
	count := b.count(account)
	count.mu.Lock()
	defer count.mu.Unlock()
	now := b.Now()
	age := now.Sub(count.countedAt)
	if full := count.runs+wanted > b.Limit; age < 0 || age >= countFor || full && age >= countPause {
		pending, err := transaction.Read(ctx, b.Store, func(tx ReadTx) (int, error) { return tx.PendingRuns(ctx, account, b.Limit) })
		if err != nil {
			return Admission{}, err
		}
		count.runs, count.countedAt = pending+count.unsettled, now
	}
	admitted := min(wanted, max(0, b.Limit-count.runs))
	count.runs += admitted
	count.unsettled += admitted
	return Admission{admitted, count}, nil
}

// Settle takes note that the runs were queued, or that they were not.
func (a Admission) Settle(queued bool) {
	if a.count == nil {
		return
	}
	a.count.mu.Lock()
	defer a.count.mu.Unlock()
	if a.count.unsettled -= a.Runs; !queued {
		a.count.runs -= a.Runs
	}
}

func (b *Backlog) count(account string) *pendingCount {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.counts == nil || len(b.counts) >= maxCounts {
		b.counts = map[string]*pendingCount{}
	}
	if b.counts[account] == nil {
		b.counts[account] = &pendingCount{}
	}
	return b.counts[account]
}
