package worker

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/jobs"
)

// Intervals are how often a worker acts and how long it waits.
type Intervals struct {
	Heartbeat time.Duration
	// AbortAfter is the time without a heartbeat after which a worker aborts its requests. LostAfter is the time
	// after which others declare it lost.
	AbortAfter, LostAfter time.Duration
	// CancelCheck is how late a cancellation without a notification is noticed.
	CancelCheck time.Duration
	// Poll is how late a run that another node queued is noticed.
	Poll time.Duration
	// Backlog is the pause between claims; Write is the pause between batches of outcomes.
	Backlog, Write time.Duration
}

func defaultIntervals() Intervals {
	return Intervals{Heartbeat: 2 * time.Second, AbortAfter: 10 * time.Second, LostAfter: 14 * time.Second,
		CancelCheck: time.Second, Poll: time.Second, Backlog: time.Millisecond, Write: 8 * time.Millisecond}
}

// sendHeartbeats sends heartbeats until ctx ends, and does nothing that could delay one.
func (w *Worker) sendHeartbeats(ctx context.Context) {
	failing := false
	background.Repeat(ctx, nil, func(ctx context.Context) (time.Duration, error) {
		pause, err := w.heartbeat(ctx)
		if err == nil && failing {
			failing = false
			w.Log.Info("The database is back; heartbeats work again.")
		}
		return pause, err
	}, func(err error) {
		failing = true
		if w.Alone {
			w.Log.Warn("Heartbeat failed; retrying. Requests in flight go on: no other node uses this database.", "error", err)
			return
		}
		w.Log.Warn("Heartbeat failed; retrying. Requests in flight are aborted if no heartbeat succeeds.", "error", err, "after", w.Intervals.AbortAfter)
	})
}

// heartbeat increments this worker's number and returns the time until the next heartbeat. It times out to try again.
func (w *Worker) heartbeat(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, w.Intervals.Heartbeat)
	defer cancel()
	at := w.Now()
	err := w.Store.Write(ctx, "", func(ctx context.Context, tx Tx) error { return tx.Beat(ctx, w.Boot, w.Node) })
	took := w.Now().Sub(at)
	if err == nil {
		w.abortTimer.Reset(w.Intervals.AbortAfter - took)
		w.live()
	}
	return w.Intervals.Heartbeat - took, err
}

// live lets this worker and its followers claim.
func (w *Worker) live() {
	if !w.alive.Swap(true) {
		w.Wake() // claiming waited for a heartbeat
	}
	for _, follower := range w.Followers {
		follower.live()
	}
}

// abortOwn aborts all requests of this worker and its followers, before other nodes mark its runs WORKER_LOST. A timer calls it, because
// the heartbeat may be waiting for the database.
func (w *Worker) abortOwn() {
	if w.Alone {
		return
	}
	for _, each := range append([]*Worker{w}, w.Followers...) {
		each.alive.Store(false)
		each.inFlight.abortAll(errLost)
	}
}

// watchNodes declares silent workers lost until ctx ends.
func (w *Worker) watchNodes(ctx context.Context) {
	check := func(ctx context.Context) (time.Duration, error) { return w.Intervals.Heartbeat, w.giveUpSilent(ctx) }
	background.Repeat(ctx, nil, check, func(err error) {
		w.Log.Warn("Checking for lost nodes failed; retrying.", "error", err)
	})
}

// sighting is the last heartbeat of another worker, and how long this worker has watched for the next one.
type sighting struct {
	beat   int64
	silent time.Duration
}

// lookout measures the time in which a worker could have seen the heartbeats of others.
type lookout struct {
	beat             int64     // the last own heartbeat that was read from the database
	beatAt, lookedAt time.Time // when it was read first, and when heartbeats were read last
}

// look returns how much of the time since the last look counts as silence of others: only the time until soon after an own
// heartbeat. While no heartbeat reaches the database, or none can be read, others are silent for the same reason.
func (l *lookout) look(nodes []Node, boot string, now time.Time, soon time.Duration) time.Duration {
	until := now
	if trusted := l.beatAt.Add(soon); trusted.Before(now) {
		until = trusted
	}
	counted := max(0, until.Sub(l.lookedAt))
	l.lookedAt = now
	for _, node := range nodes {
		if node.Boot == boot && node.Beat != l.beat {
			l.beat, l.beatAt = node.Beat, now
		}
	}
	return counted
}

// giveUpSilent gives up silent workers. The first time it also gives up this node's previous boots.
func (w *Worker) giveUpSilent(ctx context.Context) error {
	if w.Paused.IsOn() {
		return nil
	}
	nodes, err := w.nodes(ctx)
	if err != nil {
		return err
	}
	seen, counted := map[string]sighting{}, w.lookout.look(nodes, w.Boot, w.Now(), 2*w.Intervals.Heartbeat)
	for _, node := range nodes {
		last, known := w.seen[node.Boot]
		if last.silent += counted; !known || last.beat != node.Beat {
			last = sighting{beat: node.Beat}
		}
		seen[node.Boot] = last
		switch {
		case err != nil || node.Boot == w.Boot:
		case w.seen == nil && node.Name == w.Node:
			err = w.giveUp(ctx, node, "The node was started again before the response came.")
		case last.silent >= w.Intervals.LostAfter:
			err = w.giveUp(ctx, node, "The node that made the request has not been heard of since.")
		}
	}
	if err == nil || w.seen != nil {
		w.seen = seen
	}
	return err
}

func (w *Worker) nodes(ctx context.Context) (nodes []Node, err error) {
	err = w.Store.Read(ctx, func(ctx context.Context, tx ReadTx) error {
		nodes, err = tx.Nodes(ctx)
		return err
	})
	return nodes, err
}

// giveUp fails the runs of a worker and removes it. While the accounts of some of its runs are busy, it stays, and is given up
// again at the next check. giveUp waits for one of these accounts, but not for long: others may be silent as well.
func (w *Worker) giveUp(ctx context.Context, node Node, detail string) error {
	busy, err := w.loseRuns(ctx, "", node, detail)
	if err != nil || len(busy) == 0 {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, w.Intervals.Heartbeat)
	defer cancel()
	one := busy[rand.IntN(len(busy))] //nolint:gosec // any of them
	if _, err = w.loseRuns(waiting, one, node, detail); waiting.Err() != nil {
		return nil // the account is still busy
	}
	return err
}

// loseRuns fails the runs of a worker in a transaction that holds the lock of an account; "" is none. It removes the worker
// unless runs are left, and returns the accounts of these runs.
func (w *Worker) loseRuns(ctx context.Context, account string, node Node, detail string) (busy []string, err error) {
	lost := 0
	err = w.Store.Write(ctx, account, func(ctx context.Context, tx Tx) error {
		lost, busy = 0, nil
		silent, err := tx.IsSilent(ctx, node)
		if err != nil || !silent {
			return err
		}
		if lost, busy, err = tx.LoseRuns(ctx, node.Boot, detail); err != nil || len(busy) > 0 {
			return err
		}
		_, err = tx.GiveUp(ctx, node)
		return err
	})
	if err == nil && lost > 0 {
		w.countFinished(jobs.WorkerLost, lost)
		w.Log.Warn("A node is gone; its runs were marked WORKER_LOST.", "node", node.Name, "runs", lost)
	}
	return busy, err
}

// countFinished reports failed runs to the observer.
func (w *Worker) countFinished(reason jobs.Reason, runs int) {
	for range runs {
		w.Observe.RunFinished(jobs.Failed, reason)
	}
}

const (
	depthEvery = 5       // checks per measurement: counting a long queue is expensive
	maxDepth   = 100_000 // bounds the count
	// maxUnhealthy bounds the jobs that metrics name.
	maxUnhealthy = 500
)

// checkOwned aborts the requests of canceled runs, and measures the queue, until ctx ends.
func (w *Worker) checkOwned(ctx context.Context) {
	checks := 0
	background.Every(ctx, w.Intervals.CancelCheck, func(ctx context.Context) {
		_ = w.Store.Read(ctx, func(ctx context.Context, tx ReadTx) error {
			if checks++; checks%depthEvery == 1 {
				depth, err := tx.CountPending(ctx, maxDepth)
				if err != nil {
					return err
				}
				w.Observe.QueueDepth(depth)
				unhealthy, err := tx.UnhealthyJobs(ctx, maxUnhealthy)
				if err != nil {
					return err
				}
				w.Observe.Unhealthy(unhealthy)
			}
			return w.abortCanceled(ctx, tx)
		})
	})
}

// abortCanceled aborts the requests of runs that this worker no longer owns.
func (w *Worker) abortCanceled(ctx context.Context, tx ReadTx) error {
	running := w.inFlight.runs() // before the read, so that the database knows all of them
	if len(running) == 0 {
		return nil
	}
	owned, err := tx.OwnedOf(ctx, w.Boot, slices.Collect(maps.Keys(running)))
	for _, run := range owned {
		delete(running, run)
	}
	if err == nil {
		for _, request := range running {
			request.abort(errCanceled)
		}
	}
	return err
}

// deregister removes this worker's row and fails its unwritten runs, so that other nodes need not wait.
func (w *Worker) deregister(ctx context.Context) {
	nodes, err := w.nodes(ctx)
	for _, node := range nodes {
		if err == nil && node.Boot == w.Boot {
			err = w.giveUp(ctx, node, "The node was shut down before the outcome was written.")
		}
	}
	if err != nil {
		w.Log.Warn("Deregistering this node failed; other nodes will mark its runs WORKER_LOST.", "error", err, "after", w.Intervals.LostAfter)
	}
}
