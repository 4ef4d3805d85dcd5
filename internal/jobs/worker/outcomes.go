package worker

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jobs"
)

// The bounds of a transaction: how many outcomes it writes, and how many bytes of bodies.
const maxBatch, maxBatchBytes = 512, 8 << 20

// writeOutcomes writes outcomes until the channel is closed. It pauses between batches, so that they become larger.
func (w *Worker) writeOutcomes(ctx context.Context) {
	due := time.NewTimer(0)
	defer due.Stop()
	for first := range w.outcomes {
		<-due.C
		due.Reset(w.Intervals.Write)
		w.write(ctx, w.inFlight.withoutApart(w.batch(first)), w.writeTogether())
	}
}

// batch returns an outcome together with other waiting ones.
func (w *Worker) batch(first Outcome) []Outcome {
	batch, size := []Outcome{first}, first.size()
	for len(batch) < maxBatch && size < maxBatchBytes && len(w.outcomes) > 0 {
		next := <-w.outcomes // this is the only receiver
		batch = append(batch, next)
		size += next.size()
	}
	return batch
}

func (o Outcome) size() int {
	switch {
	case o.Packed != nil:
		return len(o.Packed.Bytes)
	case o.Result != nil:
		return len(o.Result.Body)
	}
	return 0
}

// write stores outcomes with a function, however long that takes: if an outcome were lost, nobody would know what
// came of its request.
func (w *Worker) write(ctx context.Context, batch []Outcome, once func(context.Context, []Outcome) error) {
	if len(batch) == 0 {
		return
	}
	left := retry(ctx, batch, once,
		func(err error) {
			w.Log.Warn("Writing the outcomes of runs failed; retrying.", "runs", len(batch), "error", err)
		},
		func(refused Outcome, err error) {
			w.Log.Error("The database refused the outcome of a run; the run is marked WORKER_LOST.", "run", refused.Run, "error", err)
			lost := failure(jobs.WorkerLost, "The request was made, but its outcome could not be stored.", nil)
			lost.Run, lost.Account, lost.FinishedAt = refused.Run, refused.Account, refused.FinishedAt
			retry(ctx, []Outcome{lost}, once, func(error) {}, func(_ Outcome, err error) {
				w.Log.Error("Marking a run WORKER_LOST was refused as well; it stays RUNNING until this node stops.", "run", refused.Run, "error", err)
				w.inFlight.written([]Outcome{refused})
			})
		})
	if left > 0 {
		w.Log.Error("The node stopped before the outcomes of runs were written; the runs will be marked WORKER_LOST.", "runs", left)
	}
}

// note counts the runs of stored outcomes that were not canceled meanwhile.
func (w *Worker) note(outcomes []Outcome, ids []string, err error) error {
	if err != nil {
		return err
	}
	w.inFlight.written(outcomes)
	owned := make(map[string]bool, len(ids))
	for _, id := range ids {
		owned[id] = true
	}
	for _, outcome := range outcomes {
		reason := jobs.Reason("")
		if outcome.Reason != nil {
			reason = *outcome.Reason
		}
		if owned[outcome.Run] {
			w.Observe.RunFinished(outcome.Status, reason)
		}
	}
	return nil
}

// retry calls do with items until it succeeds or ctx ends, and returns how many are left. unavailable gets the first
// error of an outage. If the database refuses the items, retry halves them until refused gets the bad one.
func retry[T any](ctx context.Context, items []T, do func(context.Context, []T) error, unavailable func(error), refused func(T, error)) (left int) {
	const first, longest = 20 * time.Millisecond, time.Second
	for pause := first; ; pause = min(2*pause, longest) {
		err := do(ctx, items)
		switch half := len(items) / 2; {
		case err == nil:
			return 0
		case ctx.Err() != nil:
			return len(items)
		case !fault.Is(err, fault.Unavailable) && half > 0:
			return retry(ctx, items[:half], do, unavailable, refused) + retry(ctx, items[half:], do, unavailable, refused)
		case !fault.Is(err, fault.Unavailable):
			refused(items[0], err)
			return 0
		case pause == first:
			unavailable(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}
