package observations

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
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
//
// One caller of an account writes at a time. It writes its own report and those
// behind it that fit into the batch, then gives the turn to the caller of the next
// report. A caller that leaves removes its report, and gives the turn away if it
// had it. So there is always a caller who writes or is about to, and what is
// counted as waiting has a caller who waits for it.
type queue[W any] struct {
	mu       sync.Mutex
	accounts map[string]*waitingReports[W] // those in which somebody writes
}

// waitingReports is the reports of an account that nobody writes yet, in the order
// in which they came.
type waitingReports[W any] struct {
	reports []*pendingReport[W]
	items   int // of all reports
}

// queuedWrite is a report, or a slice of one, and how it is written.
type queuedWrite[W any] struct {
	items int
	// check decides in the transaction whether the report may still be written,
	// before anything of it is. A refusal, 401 or 403, is the answer to this caller
	// alone; the other reports of the batch are written.
	check func(tx W) error
	// write may run again, as any transaction may, and after the caller has left.
	// When it fails, the whole batch does.
	write func(tx W, shared *sharedCount) error
}

// pendingReport is a report whose caller waits.
type pendingReport[W any] struct {
	queuedWrite[W]
	turn    chan struct{} // closed when its caller is the one to write
	hasTurn bool
	done    chan struct{} // closed when it was written or has failed
	err     error         // for the caller, once it is done
}

// sharedCount is how many more sources an account may have. The reports of a
// batch count it once.
type sharedCount struct {
	known    bool
	capacity int
}

// Write writes a report, alone or together with others. It returns when the report
// is written or has failed, or when the caller leaves; a report that is being
// written by then is written all the same.
func (q *queue[W]) Write(ctx context.Context, store transaction.Writer[W], account string, write queuedWrite[W]) error {
	own, err := q.join(account, write)
	if err != nil {
		return err
	}
	select {
	case <-own.done:
		return own.err
	case <-own.turn:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		q.leave(account, own)
		return ctx.Err()
	}
	q.writeNext(context.WithoutCancel(ctx), store, account) // the others stay when this caller leaves
	return own.err
}

// join adds a report behind those that wait.
func (q *queue[W]) join(account string, write queuedWrite[W]) (*pendingReport[W], error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting, writing := q.accounts[account]
	if !writing {
		waiting = &waitingReports[W]{}
	}
	if waiting.items > 0 && waiting.items+write.items > maxWaiting {
		refusal := fault.New(fault.RateLimited, "Reports about %d items of this account wait to be written. Try again in a moment.", waiting.items)
		refusal.RetryAfter = time.Second
		return nil, refusal
	}
	own := &pendingReport[W]{queuedWrite: write, turn: make(chan struct{}), done: make(chan struct{})}
	waiting.reports, waiting.items = append(waiting.reports, own), waiting.items+write.items
	if !writing {
		if q.accounts == nil {
			q.accounts = map[string]*waitingReports[W]{}
		}
		q.accounts[account] = waiting
		q.passTurn(account)
	}
	return own, nil
}

// leave removes a report that nobody writes yet.
func (q *queue[W]) leave(account string, own *pendingReport[W]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.accounts[account]
	if waiting == nil || !waiting.remove(own) {
		return
	}
	if own.hasTurn {
		q.passTurn(account)
	}
}

// passTurn lets the caller of the first report write, or forgets an account
// without reports. The queue is locked.
func (q *queue[W]) passTurn(account string) {
	waiting := q.accounts[account]
	if len(waiting.reports) == 0 {
		delete(q.accounts, account)
		return
	}
	first := waiting.reports[0]
	first.hasTurn = true
	close(first.turn)
}

// writeNext writes the first reports of an account, of which one is the caller's,
// and passes the turn on.
func (q *queue[W]) writeNext(ctx context.Context, store transaction.Writer[W], account string) {
	q.mu.Lock()
	next := q.accounts[account].take()
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.passTurn(account)
	}()
	next.write(ctx, store, account)
}

// remove removes a report and reports whether it was there.
func (w *waitingReports[W]) remove(report *pendingReport[W]) bool {
	place := slices.Index(w.reports, report)
	if place < 0 {
		return false
	}
	w.reports = slices.Delete(w.reports, place, place+1)
	w.items -= report.items
	return true
}

// take removes the first reports, as many as one transaction writes.
func (w *waitingReports[W]) take() reportBatch[W] {
	count, items := 1, w.reports[0].items
	for count < len(w.reports) && items+w.reports[count].items <= sliceSize {
		items += w.reports[count].items
		count++
	}
	taken := slices.Clone(w.reports[:count])
	w.reports = slices.Delete(w.reports, 0, count)
	w.items -= items
	return taken
}

// reportBatch is reports that are written in one transaction.
type reportBatch[W any] []*pendingReport[W]

// write writes the reports and tells their callers.
func (b reportBatch[W]) write(ctx context.Context, store transaction.Writer[W], account string) {
	err, refusals := errNotWritten, make([]error, len(b))
	defer func() { // also when the store panics
		for i, each := range b {
			each.err = refusals[i]
			if err != nil {
				each.err = err
			}
			close(each.done)
		}
	}()
	err = store.Write(ctx, account, func(tx W) error { return b.writeIn(tx, refusals) })
}

// errNotWritten is the failure of a report whose transaction ended without a result.
var errNotWritten = errors.New("the report was not written")

// writeIn writes the reports that are not refused, and notes why the others are.
func (b reportBatch[W]) writeIn(tx W, refusals []error) error {
	clear(refusals) // of an earlier attempt
	var shared sharedCount
	for i, each := range b {
		err := each.check(tx)
		if isRefused(err) {
			refusals[i] = err
			continue
		}
		if err == nil {
			err = each.write(tx, &shared)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// confirm returns the check of a caller's report: the rights are those that the caller has when it is written.
func confirm[W accounts.AuthorityTx](ctx context.Context, caller accounts.Caller) func(W) error {
	return func(tx W) error {
		_, err := caller.Confirm(ctx, tx)
		return err
	}
}

// isRefused tells a caller who may not report from a check that failed.
func isRefused(err error) bool {
	return fault.Is(err, fault.Unauthorized) || fault.Is(err, fault.Forbidden)
}
