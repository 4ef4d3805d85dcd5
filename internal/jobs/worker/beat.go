package worker

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
)

// Pace is how often a worker does what it does, and how long it waits.
type Pace struct {
	// Beat is how often a worker tells that it lives.
	Beat time.Duration
	// GiveUpOwn is how long a worker may be unable to beat before it aborts
	// its requests; GiveUpOther how long another's silence lasts before its
	// runs are lost. Between them lies the time to abort.
	GiveUpOwn, GiveUpOther time.Duration
	// Watch is how late a cancellation that was not heard of is noticed.
	Watch time.Duration
	// Look is how late a run that another node queued is noticed.
	Look time.Duration
	// Backlog is how often runs are claimed while there are many.
	Backlog time.Duration
	// Write is how often outcomes are written while there are many.
	Write time.Duration
}

func defaultPace() Pace {
	return Pace{Beat: 2 * time.Second, GiveUpOwn: 10 * time.Second, GiveUpOther: 14 * time.Second,
		Watch: time.Second, Look: time.Second, Backlog: time.Millisecond, Write: 8 * time.Millisecond}
}

// beat tells, while ctx lasts, that this worker lives. It does nothing else:
// whatever it waited for would delay the next beat.
func (w *Worker) beat(ctx context.Context) {
	ticker := time.NewTicker(w.Pace.Beat)
	defer ticker.Stop()
	for {
		if err := w.beatOnce(ctx); err != nil && ctx.Err() == nil {
			w.Log.Warn("The worker cannot tell that it lives; it keeps trying.", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// listen gives up, while ctx lasts, workers that have fallen silent. It looks
// after each beat of its own: who cannot beat knows nothing of the others.
func (w *Worker) listen(ctx context.Context) {
	others := watchers{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.beaten:
		}
		if err := w.giveUpSilent(ctx, &others); err != nil && ctx.Err() == nil {
			w.Log.Warn("The worker cannot look after the others; it keeps trying.", "error", err)
		}
	}
}

// beatOnce raises this worker's number. A database that does not answer is not
// waited for: another connection may work.
func (w *Worker) beatOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, w.Pace.Beat)
	defer cancel()
	at := w.Now() // before the write: that is how old the beat is at least
	if err := w.Store.Write(ctx, "", func(tx Tx) error { return tx.Beat(ctx, w.Boot, w.Node) }); err != nil {
		return err
	}
	w.fuse.Reset(w.Pace.GiveUpOwn - w.Now().Sub(at))
	if !w.lives.Swap(true) {
		w.Wake() // claiming waits for it
	}
	w.beaten.Ring()
	return nil
}

// burn is called when there was no beat for too long. A timer does it, because
// whoever beats may be waiting for the database.
func (w *Worker) burn() {
	w.lives.Store(false)
	w.flights.abortAll(errLost)
}

// watchers is what a worker has heard of the others.
type watchers struct {
	heard map[string]heard // by boot
	// settledIn tells that this node's previous boot was looked for.
	settledIn bool
}

// heard is when another worker's beat was first seen.
type heard struct {
	beat  int64
	since time.Time
}

// hear notes the beats of all nodes, and forgets those that have left.
func (o *watchers) hear(nodes []Node, now time.Time) {
	known := make(map[string]heard, len(nodes))
	for _, node := range nodes {
		last, seen := o.heard[node.Boot]
		if !seen || last.beat != node.Beat {
			last = heard{node.Beat, now}
		}
		known[node.Boot] = last
	}
	o.heard = known
}

// giveUpSilent gives up the workers whose beat has not moved for long, and,
// the first time, this node's previous boot.
func (w *Worker) giveUpSilent(ctx context.Context, others *watchers) error {
	nodes, err := w.nodes(ctx)
	if err != nil {
		return err
	}
	now := w.Now()
	others.hear(nodes, now)
	for _, node := range nodes {
		detail := ""
		switch {
		case node.Boot == w.Boot:
			continue
		case !others.settledIn && node.Name == w.Node:
			detail = "The node was started again before the response came."
		case now.Sub(others.heard[node.Boot].since) >= w.Pace.GiveUpOther:
			detail = "The node that made the request has not been heard of since."
		default:
			continue
		}
		if err := w.giveUp(ctx, node, detail); err != nil {
			return err
		}
	}
	others.settledIn = true
	return nil
}

func (w *Worker) nodes(ctx context.Context) (nodes []Node, err error) {
	err = w.Store.Read(ctx, func(tx ReadTx) error {
		nodes, err = tx.Nodes(ctx)
		return err
	})
	return nodes, err
}

// giveUp fails the runs of a worker that is gone.
func (w *Worker) giveUp(ctx context.Context, node Node, detail string) error {
	lost := 0
	err := w.Store.Write(ctx, "", func(tx Tx) error {
		lost = 0
		gone, err := tx.GiveUp(ctx, node)
		if err != nil || !gone {
			return err
		}
		lost, err = tx.LoseRuns(ctx, node.Boot, detail)
		return err
	})
	if err == nil && lost > 0 {
		for range lost {
			w.Observe.RunFinished(jobs.Failed, jobs.WorkerLost)
		}
		w.Log.Warn("A node is gone; its runs are WORKER_LOST.", "node", node.Name, "runs", lost)
	}
	return err
}

// watch looks, once a second, for runs in flight that were cancelled without
// this node hearing of it, and now and then measures the queue.
func (w *Worker) watch(ctx context.Context) {
	ticker := time.NewTicker(w.Pace.Watch)
	defer ticker.Stop()
	for i := 0; ; i++ {
		_ = w.Store.Read(ctx, func(tx ReadTx) error { // an outage is told by the beat
			if i%depthEvery == 0 {
				if err := w.measure(ctx, tx); err != nil {
					return err
				}
			}
			return w.look(ctx, tx)
		})
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

const (
	// depthEvery is how many looks there are for one measurement of the queue:
	// counting a long one is work.
	depthEvery = 5
	// maxDepth bounds the count.
	maxDepth = 100_000
)

func (w *Worker) measure(ctx context.Context, tx ReadTx) error {
	depth, err := tx.CountPending(ctx, maxDepth)
	if err == nil {
		w.Observe.QueueDepth(depth)
	}
	return err
}

// look aborts the requests of runs that are not this worker's any more.
func (w *Worker) look(ctx context.Context, tx ReadTx) error {
	flying := w.flights.runs() // before the look: they are in the database
	if len(flying) == 0 {
		return nil
	}
	owned, err := tx.Owned(ctx, w.Boot)
	if err != nil {
		return err
	}
	mine := make(map[string]bool, len(owned))
	for _, run := range owned {
		mine[run] = true
	}
	for _, run := range flying {
		if !mine[run] {
			w.flights.abort(run, errCanceled)
		}
	}
	return nil
}

// leave removes this worker's row: nobody has to wait for its silence. What it
// could not write is lost at once.
func (w *Worker) leave(ctx context.Context) {
	nodes, err := w.nodes(ctx)
	for _, node := range nodes {
		if err == nil && node.Boot == w.Boot {
			err = w.giveUp(ctx, node, "The node was shut down before the outcome was written.")
		}
	}
	if err != nil {
		w.Log.Warn("The worker could not take its leave; other nodes will notice.", "error", err)
	}
}
