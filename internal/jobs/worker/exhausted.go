package worker

import "context"

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
	w.puttingBack.RLock() // otherwise the run could be claimed again and aborted as a canceled one
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

// putBackOnce undoes a claim and its metering. The account's lock keeps the job
// from changing meanwhile.
func (w *Worker) putBackOnce(ctx context.Context, claim Claim) error {
	ctx, cancel := context.WithTimeout(ctx, w.Intervals.AbortAfter)
	defer cancel()
	return w.Store.Write(ctx, claim.Account, func(ctx context.Context, tx Tx) error {
		owned, err := tx.PutBack(ctx, claim.Run, w.Boot)
		if err != nil || !owned || w.Unmetered { // not owned: the run was canceled meanwhile
			return err
		}
		return tx.MeterRuns(ctx, claim.Account, claim.Period, -1)
	})
}
