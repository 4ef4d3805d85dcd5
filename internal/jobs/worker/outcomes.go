package worker

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jobs"
)

const (
	// maxBatch bounds the outcomes of one transaction.
	maxBatch = 512
	// maxBatchBytes bounds their bodies.
	maxBatchBytes = 8 << 20
)

// writeAll writes outcomes until there will be no more: at once when the last
// ones were written a while ago, else together with others.
func (w *Worker) writeAll(ctx context.Context) {
	due := time.NewTimer(0)
	defer due.Stop()
	for first := range w.outcomes {
		batch := w.batch(first, due.C)
		due.Reset(w.Pace.Write)
		w.write(ctx, batch)
	}
}

// batch adds to an outcome what else there is, and what comes until the batch
// is due.
func (w *Worker) batch(first Outcome, due <-chan time.Time) []Outcome {
	batch := []Outcome{first}
	size := first.size()
	for len(batch) < maxBatch && size < maxBatchBytes {
		next, more := w.next(due)
		if !more {
			break
		}
		batch = append(batch, next)
		size += next.size()
	}
	return batch
}

func (w *Worker) next(due <-chan time.Time) (outcome Outcome, more bool) {
	select {
	case outcome, more = <-w.outcomes: // what is there goes along even when the batch is due
		return outcome, more
	default:
	}
	select {
	case outcome, more = <-w.outcomes:
	case <-due:
	}
	return outcome, more
}

func (o Outcome) size() int {
	if o.Result == nil {
		return 0
	}
	return len(o.Result.Body)
}

// write stores a batch, however long that takes: an outcome that is lost is a
// request that nobody knows of. It gives up only when the worker has ended.
func (w *Worker) write(ctx context.Context, batch []Outcome) {
	const first, longest = 20 * time.Millisecond, time.Second
	defer w.flights.written(batch)
	for pause := first; ; pause = min(2*pause, longest) {
		owned, err := w.Store.FinishRuns(ctx, w.Boot, batch)
		switch {
		case err == nil:
			w.count(batch, owned)
			return
		case ctx.Err() != nil:
			w.Log.Error("The outcomes of runs were not written before the end; the runs will be WORKER_LOST.", "runs", len(batch), "error", err)
			return
		case !fault.Is(err, fault.Unavailable) && len(batch) > 1: // one that is refused must not keep the others
			w.write(ctx, batch[:len(batch)/2])
			w.write(ctx, batch[len(batch)/2:])
			return
		case !fault.Is(err, fault.Unavailable):
			w.Log.Error("The outcome of a run is refused by the database; the run is WORKER_LOST.", "run", batch[0].Run, "error", err)
			batch[0] = batch[0].lost()
		case pause == first:
			w.Log.Warn("The outcomes of runs cannot be written; it is tried again.", "runs", len(batch), "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// lost is what is left of an outcome that cannot be stored.
func (o Outcome) lost() Outcome {
	lost := failure(jobs.WorkerLost, "The request was made, but what came of it could not be stored.", nil)
	lost.Run, lost.FinishedAt = o.Run, o.FinishedAt
	return lost
}

// count tells of the runs that ended the way the outcomes say.
func (w *Worker) count(batch []Outcome, owned []string) {
	kept := make(map[string]bool, len(owned))
	for _, run := range owned {
		kept[run] = true
	}
	for _, outcome := range batch {
		if !kept[outcome.Run] {
			continue // cancelled meanwhile
		}
		reason := jobs.Reason("")
		if outcome.Reason != nil {
			reason = *outcome.Reason
		}
		w.Observe.RunFinished(outcome.Status, reason)
	}
}
