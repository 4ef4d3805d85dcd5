package worker

import (
	"context"
	"time"

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
		w.Wake() // there is room again
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
// request that nobody knows of. It gives up only once the worker is stopping
// and the database has not answered for long.
func (w *Worker) write(ctx context.Context, batch []Outcome) {
	const first, longest = 20 * time.Millisecond, time.Second
	var owned []string
	for pause, failing := first, false; ; pause = min(2*pause, longest) {
		err := w.Store.Write(ctx, "", func(tx Tx) (err error) {
			owned, err = tx.FinishRuns(ctx, w.Boot, batch)
			return err
		})
		if err == nil {
			break
		}
		if !failing {
			w.Log.Warn("The outcomes of runs cannot be written; it is tried again.", "runs", len(batch), "error", err)
		}
		failing = true
		if w.stopping.Load() && pause == longest {
			w.Log.Error("The outcomes of runs were not written before the end; the runs will be WORKER_LOST.", "runs", len(batch), "error", err)
			return
		}
		<-time.After(pause)
	}
	w.count(batch, owned)
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
