package worker

import "context"

// isExhausted reports whether this node had no resources for a request a moment
// ago, so that it should claim nothing.
func (w *Worker) isExhausted() bool { return w.Now().UnixNano() < w.exhausted.Load() }

// putBack frees the capacity of a run that nothing was sent for, because this
// node had no resources, and makes it pending again: another node, or this one
// in a moment, can claim it. It reports whether that worked.
func (w *Worker) putBack(claim Claim, cause error) bool {
	if w.exhausted.Swap(w.Now().Add(w.Intervals.Poll).UnixNano()) < w.Now().Add(-10*w.Intervals.Poll).UnixNano() {
		w.Log.Error("This node has no file descriptors or memory for requests; runs go back to the queue and claiming pauses. Raise the limit of open files, or lower SIGNALBOX_RUNS_IN_FLIGHT.",
			"pause", w.Intervals.Poll, "error", cause)
	}
	w.puttingBack.RLock() // or the run could be claimed again and aborted as one that was cancelled
	defer w.puttingBack.RUnlock()
	w.inFlight.end(claim)
	done := true
	left := retry(w.writeContext, []Claim{claim}, func(ctx context.Context, claims []Claim) error { return w.putBackOnce(ctx, claims[0]) },
		func(err error) {
			w.Log.Warn("Putting a run back into the queue failed; retrying.", "run", claim.Run, "error", err)
		},
		func(_ Claim, err error) {
			w.Log.Error("The database refused to put a run back into the queue; it fails.", "run", claim.Run, "error", err)
			done = false
		})
	if left > 0 || !done {
		return false
	}
	w.inFlight.written([]Outcome{{Run: claim.Run}})
	return true
}

// putBackOnce undoes a claim, its metering included. The account's lock keeps
// the job as it is meanwhile.
func (w *Worker) putBackOnce(ctx context.Context, claim Claim) error {
	ctx, cancel := context.WithTimeout(ctx, w.Intervals.AbortAfter)
	defer cancel()
	return w.Store.Write(ctx, claim.Account, func(ctx context.Context, tx Tx) error {
		owned, err := tx.PutBack(ctx, claim.Run, w.Boot)
		if err != nil || !owned { // it was cancelled meanwhile
			return err
		}
		return tx.MeterRuns(ctx, claim.Account, claim.Period, -1)
	})
}
