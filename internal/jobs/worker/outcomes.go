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

// writeAll writes outcomes until there will be no more.
func (w *Worker) writeAll(ctx context.Context) {
	for first := range w.outcomes {
		w.write(ctx, w.batch(first))
	}
}

// batch adds to an outcome what has come meanwhile.
func (w *Worker) batch(first Outcome) []Outcome {
	batch := []Outcome{first}
	size := first.size()
	for len(batch) < maxBatch && size < maxBatchBytes {
		select {
		case next, more := <-w.outcomes:
			if !more {
				return batch
			}
			batch = append(batch, next)
			size += next.size()
		default:
			return batch
		}
	}
	return batch
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
		owned, err := w.finish(ctx, batch)
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

func (w *Worker) finish(ctx context.Context, batch []Outcome) (owned []string, err error) {
	err = w.Store.Write(ctx, "", func(tx Tx) error {
		owned, err = tx.FinishRuns(ctx, w.Boot, batch)
		return err
	})
	return owned, err
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
