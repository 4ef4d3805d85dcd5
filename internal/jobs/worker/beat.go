package worker

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	beatInterval = 3 * time.Second
	// giveUpOwn is how long a worker may be unable to beat before it aborts
	// its requests; giveUpOther how long another's silence lasts before its
	// runs are lost. Between them lies the time to abort.
	giveUpOwn   = 11 * time.Second
	giveUpOther = 15 * time.Second
	// watchInterval is how late a cancellation that was not heard of is noticed.
	watchInterval = time.Second
	// maxDepth bounds the count of pending runs.
	maxDepth = 100_000
)

// beatClock remembers when this worker last told that it lives.
type beatClock struct{ at atomic.Int64 }

func (c *beatClock) beat(now time.Time) { c.at.Store(now.UnixNano()) }

func (c *beatClock) fresh(now time.Time) bool {
	at := c.at.Load()
	return at != 0 && now.Sub(time.Unix(0, at)) < giveUpOwn
}

// beat tells, while ctx lasts, that this worker lives, and gives up workers
// that do not. The first beat takes over from this node's previous boot.
func (w *Worker) beat(ctx context.Context) {
	ticker := time.NewTicker(beatInterval)
	defer ticker.Stop()
	silence := map[string]heard{}
	previous := true
	for {
		at := w.Now() // before the write: that is how old the beat is at least
		err := w.Store.Write(ctx, "", func(tx Tx) error { return tx.Beat(ctx, w.Boot, w.Node) })
		if err == nil {
			w.lastBeat.beat(at)
			w.Wake() // claiming waits for the first beat
			err = w.giveUpSilent(ctx, silence, &previous)
		}
		if err != nil && ctx.Err() == nil {
			w.Log.Warn("The worker cannot tell that it lives; it keeps trying.", "error", err)
		}
		if !w.lastBeat.fresh(w.Now()) {
			w.flights.abortAll(errLost)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// heard is when another worker's beat was first seen.
type heard struct {
	beat  int64
	since time.Time
}

// giveUpSilent gives up the workers whose beat has not moved for long, and,
// the first time, this node's previous boot.
func (w *Worker) giveUpSilent(ctx context.Context, silence map[string]heard, previous *bool) error {
	var nodes []Node
	if err := w.Store.Read(ctx, func(tx ReadTx) (err error) {
		nodes, err = tx.Nodes(ctx)
		return err
	}); err != nil {
		return err
	}
	now := w.Now()
	for _, node := range nodes {
		if node.Boot == w.Boot {
			continue
		}
		last, known := silence[node.Boot]
		if !known || last.beat != node.Beat {
			last = heard{node.Beat, now}
			silence[node.Boot] = last
		}
		detail := ""
		switch {
		case *previous && node.Name == w.Node:
			detail = "The node was started again before the response came."
		case now.Sub(last.since) >= giveUpOther:
			detail = "The node that made the request has not been heard of since."
		default:
			continue
		}
		if err := w.giveUp(ctx, node, detail); err != nil {
			return err
		}
		delete(silence, node.Boot)
	}
	*previous = false
	return nil
}

// giveUp fails the runs of a worker that is gone.
func (w *Worker) giveUp(ctx context.Context, node Node, detail string) error {
	lost := 0
	err := w.Store.Write(ctx, "", func(tx Tx) error {
		gone, err := tx.GiveUp(ctx, node)
		if err != nil || !gone {
			return err
		}
		lost, err = tx.LoseRuns(ctx, node.Boot, detail)
		return err
	})
	if err == nil && lost > 0 {
		w.Log.Warn("A node is gone; its runs are WORKER_LOST.", "node", node.Name, "runs", lost)
	}
	return err
}

// watch looks, once a second, for runs in flight that were cancelled without
// this node hearing of it, and measures the queue.
func (w *Worker) watch(ctx context.Context) {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		_ = w.Store.Read(ctx, func(tx ReadTx) error { // an outage is told by the beat
			depth, err := tx.CountPending(ctx, maxDepth)
			if err != nil {
				return err
			}
			w.Observe.QueueDepth(depth)
			ended, err := tx.Ended(ctx, w.Boot, w.flights.runs())
			for _, run := range ended {
				w.flights.abort(run, errCanceled)
			}
			return err
		})
	}
}

// leave removes this worker's row: nobody has to wait for its silence. What it
// could not write is lost at once.
func (w *Worker) leave(ctx context.Context) {
	err := w.Store.Read(ctx, func(tx ReadTx) error {
		nodes, err := tx.Nodes(ctx)
		for _, node := range nodes {
			if err == nil && node.Boot == w.Boot {
				err = w.giveUp(ctx, node, "The node was shut down before the outcome was written.")
			}
		}
		return err
	})
	if err != nil {
		w.Log.Warn("The worker could not take its leave; other nodes will notice.", "error", err)
	}
}
