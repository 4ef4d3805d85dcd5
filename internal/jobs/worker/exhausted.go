package worker

import (
	"context"
	"errors"
)

// errClaimedAgain rolls back a transaction that would undo a later claim of the run.
var errClaimedAgain = errors.New("the run was put back before, and this node has claimed it again")

// isExhausted reports whether this node lacked resources for a request a moment
// ago and should claim nothing.
func (w *Worker) isExhausted() bool { return w.Now().UnixNano() < w.exhausted.Load() }

// putBack makes a run pending again and frees its capacity, because this node had
// no resources to send its request. Another node, or this one in a moment, can
// claim the run. putBack reports whether that worked.
func (w *Worker) putBack(claim Claim, cause error) bool {
	if w.exhausted.Swap(w.Now().Add(w.Intervals.Poll).UnixNano()) < w.Now().Add(-10*w.Intervals.Poll).UnixNano() {
		w.Log.Error("This node has no file descriptors or memory for requests; runs go back to the queue and claiming pauses. Raise the limit of open files, or lower SIGNALBOX_RUNS_IN_FLIGHT.",
			"pause", w.Intervals.Poll, "error", cause)
	}
	w.inFlight.end(claim)
	done, undo := true, w.inFlight.beginPutBack(claim)
	defer w.inFlight.endPutBack(undo)
	left := retry(w.writeContext, []*putBack{undo}, func(ctx context.Context, _ []*putBack) error { return w.putBackOnce(ctx, undo) },
		func(err error) {
			w.Log.Warn("Putting a run back into the queue failed; retrying.", "run", claim.Run, "error", err)
		},
		func(_ *putBack, err error) {
			w.Log.Error("The database refused to put a run back into the queue; it fails.", "run", claim.Run, "error", err)
			done = false
		})
	if left > 0 || !done {
		return false
	}
	w.inFlight.written([]Outcome{{Run: claim.Run}})
	return true
}

// putBackOnce undoes a claim and its metering. An earlier try may have been committed
// without an answer, and the run may have been claimed again: then putBackOnce changes
// nothing. The account's lock keeps the job from changing meanwhile.
func (w *Worker) putBackOnce(ctx context.Context, undo *putBack) error {
	ctx, cancel := context.WithTimeout(ctx, w.Intervals.AbortAfter)
	defer cancel()
	err := w.Store.Write(ctx, undo.Account, func(ctx context.Context, tx Tx) error {
		owned, err := tx.PutBack(ctx, undo.Run, w.Boot)
		switch {
		case err != nil || !owned: // not owned: the run was canceled, or another node has claimed it
			return err
		case w.inFlight.isClaimedAgain(undo): // asked under the lock of the run, which that claim had
			return errClaimedAgain
		case w.Unmetered:
			return nil
		}
		return tx.MeterRuns(ctx, undo.Account, undo.Period, -1)
	})
	if errors.Is(err, errClaimedAgain) {
		return nil
	}
	return err
}
