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
	// interrupts a transaction, and on SQLite all other writers wait for it. Both
	// sizes are multiples of the rows that the store writes in one statement.
	sliceSize = 256
	// aloneSize is the slice size while no other report is under way. The next report
	// waits for one such slice at most, and a large report needs few commits.
	aloneSize = 6 * sliceSize
	// maxWaiting bounds how many items of an account wait in memory.
	maxWaiting = 100_000
)

// queue writes the waiting reports of an account together in one transaction: when a
// fleet starts, this saves a lock, a count and a commit per service. The zero value is
// ready for use.
type queue[W any] struct {
	bounds  sync.Once
	reports coalesce.Group[string, *pendingReport[W], struct{}]
}

// queuedWrite is a report, or a slice of a report, with the functions that write it.
type queuedWrite[W any] struct {
	items int
	// check decides in the transaction, before the report is written, whether it may
	// be written. A refusal, 401 or 403, is returned to this caller only; the other
	// reports of the batch are written.
	check func(ctx context.Context, tx W) error
	// write may run more than once, as any transaction, and after the caller has
	// left. If it fails, the whole batch fails.
	write func(ctx context.Context, tx W, shared *sharedCount) error
}

// pendingReport is a report whose caller waits.
type pendingReport[W any] struct {
	queuedWrite[W]
	refusal error // of check
}

// sharedCount is how many more sources an account may have. It is counted once for
// all reports of a batch.
type sharedCount struct {
	known    bool
	capacity int
}

// Write writes a report, alone or together with others. It returns when the report is
// written or has failed, or when ctx ends; a report that is being written at that
// moment is still written.
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

// writeAll writes the reports of a batch. It skips a refused report and sets its refusal.
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

// confirm returns a check that the caller still has the right to report when the report is written.
func confirm[W accounts.AuthorityTx](caller accounts.Caller) func(context.Context, W) error {
	return func(ctx context.Context, tx W) error {
		_, err := caller.Confirm(ctx, tx)
		return err
	}
}

// isRefused reports whether an error of check is a refusal, and not a failure of the check itself.
func isRefused(err error) bool {
	return fault.Is(err, fault.Unauthorized) || fault.Is(err, fault.Forbidden)
}
