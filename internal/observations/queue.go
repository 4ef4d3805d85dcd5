package observations

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/transaction"
)

const (
	// sliceSize is how many items of a report one transaction writes. Nothing
	// interrupts a transaction, and on SQLite everybody waits for it. Both sizes are
	// multiples of what the store writes in one statement.
	sliceSize = 256
	// aloneSize is the same for the only report at the moment: whoever comes waits
	// for one such slice, and a large report pays for few commits.
	aloneSize = 6 * sliceSize
	// maxWaiting bounds how many items of an account wait in memory.
	maxWaiting = 100_000
)

// queue writes the reports of an account that wait for each other in one
// transaction: a fleet that starts would otherwise pay for a lock, a count and a
// commit per service.
type queue[W any] struct {
	mu      sync.Mutex
	last    map[string]*batch[W] // by account
	waiting map[string]int       // items, by account
}

// batch is reports that are written in one transaction, by whichever of their
// callers receives from lead, once the batch before it is done.
type batch[W any] struct {
	reports []func(tx W, shared *sharedCount) error
	size    int
	closed  bool // no report joins it any more
	before  *batch[W]
	lead    chan struct{}
	done    chan struct{}
	err     error
}

// sharedCount is how many more sources an account may have. The reports of a
// batch count it once.
type sharedCount struct {
	known    bool
	capacity int
}

// Write writes a report of so many items, alone or together with others. The
// function may run again, as any transaction may, and after the caller has left.
func (q *queue[W]) Write(ctx context.Context, store transaction.Writer[W], account string, size int, write func(tx W, shared *sharedCount) error) error {
	own, err := q.join(account, size, write)
	if err != nil {
		return err
	}
	return q.finish(ctx, store, account, own)
}

// join adds a report to the batch that waits, or begins a batch.
func (q *queue[W]) join(account string, size int, write func(tx W, shared *sharedCount) error) (*batch[W], error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.last == nil {
		q.last, q.waiting = map[string]*batch[W]{}, map[string]int{}
	}
	if waiting := q.waiting[account]; waiting > 0 && waiting+size > maxWaiting {
		refusal := fault.New(fault.RateLimited, "Reports about %d items of this account wait to be written. Try again in a moment.", waiting)
		refusal.RetryAfter = time.Second
		return nil, refusal
	}
	last := q.last[account]
	if last == nil || last.closed || last.size+size > sliceSize {
		last = &batch[W]{before: last, lead: make(chan struct{}, 1), done: make(chan struct{})}
		last.lead <- struct{}{}
		q.last[account] = last
	}
	last.reports, last.size = append(last.reports, write), last.size+size
	q.waiting[account] += size
	return last, nil
}

// finish returns when a batch is written, by this caller or another, or when the
// caller leaves.
func (q *queue[W]) finish(ctx context.Context, store transaction.Writer[W], account string, own *batch[W]) error {
	select {
	case <-own.done:
		return own.err
	case <-ctx.Done():
		return ctx.Err()
	case <-own.lead:
	}
	if own.before != nil {
		_ = q.finish(ctx, store, account, own.before) // its error is not ours
		if ctx.Err() != nil {
			own.lead <- struct{}{}
			return ctx.Err()
		}
	}
	q.write(context.WithoutCancel(ctx), store, account, own) // the others stay when this caller leaves
	return own.err
}

func (q *queue[W]) write(ctx context.Context, store transaction.Writer[W], account string, own *batch[W]) {
	q.mu.Lock()
	own.closed, own.before = true, nil
	q.waiting[account] -= own.size
	q.mu.Unlock()
	own.err = errors.New("the report was not written") // unless the store says otherwise
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.last[account] == own {
			delete(q.last, account)
			delete(q.waiting, account)
		}
		close(own.done)
	}()
	own.err = store.Write(ctx, account, func(tx W) error {
		var shared sharedCount
		for _, write := range own.reports {
			if err := write(tx, &shared); err != nil {
				return err
			}
		}
		return nil
	})
}
