package observations

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/transaction"
)

const (
	// maxBatch bounds how many items one transaction of reports is about, and so
	// how long it holds the account's lock.
	maxBatch = 20_000
	// maxWaiting bounds how many items of an account wait in memory.
	maxWaiting = 100_000
)

// queue writes the reports of an account that wait for each other in one
// transaction: a fleet that starts would otherwise pay for a lock, a count and a
// commit per service. When the report that writes is done, the first that waits
// writes next and takes the others along.
type queue[W any] struct {
	mu      sync.Mutex
	waiting map[string][]*pendingReport[W] // has the account while a report of it is written
}

// pendingReport is a report that is to be written.
type pendingReport[W any] struct {
	account string
	size    int
	write   func(tx W, shared *batch) error
	err     error
	turn    chan bool // true: another report wrote it; false: it writes now
}

// batch is what the reports of one transaction share.
type batch struct {
	counted  bool
	capacity int // how many more sources the account may have
}

// errUnwritten is the error of reports whose writer panicked.
var errUnwritten = errors.New("the report was not written")

// Write writes a report of so many items, alone or together with others. The
// function may run again, as any transaction may.
func (q *queue[W]) Write(ctx context.Context, store transaction.Writer[W], account string, size int, write func(tx W, shared *batch) error) error {
	own := &pendingReport[W]{account: account, size: size, write: write, turn: make(chan bool, 1)}
	first, err := q.enter(own)
	if err != nil {
		return err
	}
	if !first {
		select {
		case written := <-own.turn:
			if written {
				return own.err
			}
		case <-ctx.Done():
			q.leave(own)
			return ctx.Err()
		}
	}
	return q.writeBatch(ctx, store, own)
}

// writeBatch writes the report whose turn it is, together with those that wait.
func (q *queue[W]) writeBatch(ctx context.Context, store transaction.Writer[W], own *pendingReport[W]) (err error) {
	reports := q.take(own)
	err = errUnwritten
	defer func() {
		q.next(own.account)
		for _, each := range reports[1:] {
			each.err = err
			each.turn <- true
		}
	}()
	ctx = context.WithoutCancel(ctx) // the others stay when this caller leaves
	err = store.Write(ctx, own.account, func(tx W) error {
		var shared batch
		for _, each := range reports {
			if err := each.write(tx, &shared); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// enter reports whether a report may be written now. Otherwise it waits, unless
// too many do.
func (q *queue[W]) enter(own *pendingReport[W]) (now bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting, busy := q.waiting[own.account]
	if !busy {
		if q.waiting == nil {
			q.waiting = map[string][]*pendingReport[W]{}
		}
		q.waiting[own.account] = nil
		return true, nil
	}
	size := 0
	for _, each := range waiting {
		size += each.size
	}
	if size+own.size > maxWaiting {
		refusal := fault.New(fault.RateLimited, "Reports about %d items of this account wait to be written. Try again in a moment.", size)
		refusal.RetryAfter = time.Second
		return false, refusal
	}
	q.waiting[own.account] = append(waiting, own)
	return false, nil
}

// leave withdraws a report whose caller has left. One that is being written
// stays; one whose turn has come passes it on.
func (q *queue[W]) leave(own *pendingReport[W]) {
	q.mu.Lock()
	if waiting := q.waiting[own.account]; slices.Contains(waiting, own) {
		q.waiting[own.account] = slices.DeleteFunc(waiting, func(each *pendingReport[W]) bool { return each == own })
	}
	q.mu.Unlock()
	select {
	case written := <-own.turn:
		if !written {
			q.next(own.account)
		}
	default: // nobody gives it the turn any more
	}
}

// take returns the report whose turn it is and those that it writes as well.
func (q *queue[W]) take(own *pendingReport[W]) []*pendingReport[W] {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting, size, count := q.waiting[own.account], own.size, 0
	for count < len(waiting) && size+waiting[count].size <= maxBatch {
		size += waiting[count].size
		count++
	}
	q.waiting[own.account] = waiting[count:]
	return append([]*pendingReport[W]{own}, waiting[:count]...)
}

// next gives the turn to the first report that waits.
func (q *queue[W]) next(account string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.waiting[account]
	if len(waiting) == 0 {
		delete(q.waiting, account)
		return
	}
	q.waiting[account] = waiting[1:]
	waiting[0].turn <- false
}
