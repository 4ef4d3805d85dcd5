package observations

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/coalesce"
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
// commit per service. The zero value is ready for use.
type queue[W any] struct {
	bounds  sync.Once
	reports coalesce.Group[string, *pendingReport[W], struct{}]
}

// queuedWrite is a report, or a slice of one, and how it is written.
type queuedWrite[W any] struct {
	items int
	// check decides in the transaction whether the report may still be written,
	// before anything of it is. A refusal, 401 or 403, is the answer to this caller
	// alone; the other reports of the batch are written.
	check func(ctx context.Context, tx W) error
	// write may run again, as any transaction may, and after the caller has left.
	// When it fails, the whole batch does.
	write func(ctx context.Context, tx W, shared *sharedCount) error
}

// pendingReport is a report whose caller waits.
type pendingReport[W any] struct {
	queuedWrite[W]
	refusal error // for its caller alone
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
	q.bounds.Do(func() {
		q.reports.Weight, q.reports.MaxBatch, q.reports.MaxWaiting = func(report *pendingReport[W]) int { return report.items }, sliceSize, maxWaiting
	})
	own := &pendingReport[W]{queuedWrite: write}
	_, err := q.reports.Do(ctx, account, own, func(ctx context.Context, batch []*pendingReport[W]) (struct{}, error) {
		return struct{}{}, store.Write(ctx, account, func(ctx context.Context, tx W) error { return writeAll(ctx, tx, batch) })
	})
	if full, is := errors.AsType[*coalesce.FullError](err); is {
		refusal := fault.New(fault.RateLimited, "Reports about %d items of this account wait to be written. Try again in a moment.", full.Waiting)
		refusal.RetryAfter = time.Second
		return refusal
	}
	if err != nil {
		return err
	}
	return own.refusal
}

// writeAll writes the reports that are not refused, and notes why the others are.
func writeAll[W any](ctx context.Context, tx W, batch []*pendingReport[W]) error {
	var shared sharedCount
	for _, each := range batch {
		each.refusal = nil // of an earlier attempt
		err := each.check(ctx, tx)
		if isRefused(err) {
			each.refusal = err
			continue
		}
		if err == nil {
			err = each.write(ctx, tx, &shared)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// confirm returns the check of a caller's report: the rights are those that the caller has when it is written.
func confirm[W accounts.AuthorityTx](caller accounts.Caller) func(context.Context, W) error {
	return func(ctx context.Context, tx W) error {
		_, err := caller.Confirm(ctx, tx)
		return err
	}
}

// isRefused tells a caller who may not report from a check that failed.
func isRefused(err error) bool {
	return fault.Is(err, fault.Unauthorized) || fault.Is(err, fault.Forbidden)
}
