package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/plans"
)

// claimRuns claims runs until ctx ends.
func (w *Worker) claimRuns(ctx context.Context) {
	background.Repeat(ctx, w.wake, w.claimBacklog, func(err error) {
		w.Log.Warn("Claiming pending runs failed; retrying.", "error", err)
	})
}

// claimBacklog claims until nothing more can be claimed, and returns how long to wait. It ignores wakes, which would make
// batches smaller.
func (w *Worker) claimBacklog(ctx context.Context) (time.Duration, error) {
	for {
		again, err := w.claimOnce(ctx)
		if err != nil || !again {
			return w.Intervals.Poll, err
		}
		select {
		case <-ctx.Done():
			return 0, nil
		case <-time.After(w.Intervals.Backlog):
		}
	}
}

// claimOnce claims as many runs as the limits allow, starts their requests, and reports whether to claim again at once. It
// completes a claim even if ctx ends, because claimed runs have to be executed.
func (w *Worker) claimOnce(ctx context.Context) (again bool, err error) {
	w.inFlight.beginClaim() // before alive is read, so that an abort from here on includes this claim
	if !w.alive.Load() {
		return false, nil // a heartbeat will wake the worker
	}
	if w.isExhausted() || w.Paused.IsOn() {
		return false, nil
	}
	w.atLimit.Store(true) // from here on, requests that end wake the worker
	if w.inFlight.free() <= 0 {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.Intervals.AbortAfter)
	defer cancel()
	if err := w.disown(ctx); err != nil {
		return false, err
	}
	round := &round{worker: w}
	if err := w.Store.Write(ctx, "", func(ctx context.Context, tx Tx) error { return round.claim(ctx, tx) }); err != nil {
		w.uncertain = true
		w.inFlight.noteClaimed(round.claims, false)
		return false, err
	}
	w.rotation = round.rotation
	w.dispatch(ctx, round)
	w.atLimit.Store(round.limited)
	return w.visited.again(round), nil
}

// disown fails runs that this worker owns without knowing them, because the connection broke during the commit of a
// claim. Only the claiming goroutine adds runs, so a run that is unknown now stays unknown.
func (w *Worker) disown(ctx context.Context) error {
	if !w.uncertain {
		return nil
	}
	known, settled := w.inFlight.unwrittenRuns(), false
	var lost []Outcome
	err := w.Store.Write(ctx, "", func(ctx context.Context, tx Tx) (err error) {
		lost = nil
		if settled, err = tx.Settled(ctx, w.Boot); err != nil || !settled {
			return err
		}
		owned, err := tx.Owned(ctx, w.Boot)
		for _, run := range owned {
			if known[run] == 0 {
				outcome := failure(jobs.WorkerLost, "The connection to the database broke while the run was claimed, so it was not attempted.", nil)
				outcome.Run, outcome.FinishedAt = run, tx.Now()
				lost = append(lost, outcome)
			}
		}
		return err
	})
	w.uncertain = err != nil || !settled
	if err == nil {
		w.inFlight.adopt(lost)
		for _, outcome := range lost {
			w.outcomes <- outcome
		}
	}
	return err
}

// dispatch starts the requests of a round. Reading configurations in the claim would block SQLite's only writer.
func (w *Worker) dispatch(ctx context.Context, round *round) {
	w.countFinished(jobs.QuotaExceeded, round.refused)
	ctx = context.WithoutCancel(ctx)
	missing := map[string]bool{}
	read := &configurationRead{found: map[string]jobs.Configuration{}, done: make(chan struct{})}
	for _, claim := range round.claims {
		request := w.inFlight.start(ctx, claim)
		configuration, known := w.configurations.get(claim.Request)
		if known {
			w.executing.Go(func() { w.execute(request, claim, configuration) })
			continue
		}
		missing[claim.Request] = true
		w.executing.Go(func() {
			configuration, readable := read.wait(request, claim.Request)
			if !readable {
				w.finish(claim, failure(jobs.ConnectionError, "The configuration of the job cannot be read from the database; nothing was sent.", nil))
				return
			}
			w.execute(request, claim, configuration)
		})
	}
	if len(missing) > 0 {
		w.executing.Go(func() { w.readConfigurations(read, missing) })
	}
}

// round is one transaction that claims runs. The transaction may be repeated.
type round struct {
	worker     *Worker
	claims     []Claim
	refused    int
	limited    bool     // more runs may be pending than the limits allow
	crowded    bool     // there are more accounts or lanes than one round covers
	covered    []string // accounts and lanes
	rotation   rotation
	byHost     map[string]int // claimed in this round
	contenders map[string]int // accounts with pending runs, by host
}

// queue is the pending runs of one account.
type queue struct {
	account string
	lanes   []string
	allowed allowance
	taken   int
}

func (r *round) claim(ctx context.Context, tx Tx) error {
	*r = round{worker: r.worker, rotation: r.worker.rotation.clone(), byHost: map[string]int{}, contenders: map[string]int{}}
	// A node that gives up this worker waits for this lock, so it sees the claims.
	if lives, err := tx.Lives(ctx, r.worker.Boot); err != nil || !lives {
		return err
	}
	if r.worker.Paused.IsOn() { // checked after the transaction read its time: a wrong time must not stamp and meter runs
		return nil
	}
	waiting, err := r.page(r.rotation.account, func(after string, limit int) ([]string, error) { return tx.PendingAccounts(ctx, after, limit) })
	if err != nil || len(waiting) == 0 {
		return err
	}
	free := r.worker.inFlight.free()
	if len(waiting) > free {
		waiting, r.limited = waiting[:free], true
	}
	r.rotation.account = waiting[len(waiting)-1]
	slices.Sort(waiting) // the same order on all nodes, so that they do not deadlock on the meters
	queues, err := r.queues(ctx, tx, waiting)
	if err != nil || len(queues) == 0 {
		return err
	}
	return r.serveAll(ctx, tx, queues, free/len(queues))
}

// queues returns the pending lanes of accounts and how many runs their plans allow.
func (r *round) queues(ctx context.Context, tx Tx, accounts []string) ([]*queue, error) {
	var queues []*queue
	for _, account := range accounts {
		r.covered = append(r.covered, account)
		if left, _, _ := r.worker.inFlight.capacity(account, ""); left <= 0 {
			r.limited = true
			continue
		}
		lanes, err := r.page(r.rotation.lanes[account], func(after string, limit int) ([]string, error) {
			return tx.PendingLanes(ctx, account, after, limit)
		})
		if err != nil {
			return nil, err
		}
		if len(lanes) == 0 { // another node has claimed the runs
			continue
		}
		allowed, err := r.allowance(ctx, tx, account)
		if err != nil {
			return nil, err
		}
		for _, lane := range lanes {
			r.contenders[hostOf(lane)]++
		}
		r.covered = append(r.covered, lanes...)
		queues = append(queues, &queue{account: account, lanes: lanes, allowed: allowed})
	}
	return queues, nil
}

// serveAll claims up to share runs of each queue and meters them. The order is random, because the first queue gets
// contested hosts.
func (r *round) serveAll(ctx context.Context, tx Tx, queues []*queue, share int) error {
	for _, i := range rand.Perm(len(queues)) {
		if err := r.serve(ctx, tx, queues[i], share); err != nil {
			return err
		}
	}
	for _, queue := range queues {
		if queue.taken == 0 || r.worker.Unmetered {
			continue
		}
		if err := tx.MeterRuns(ctx, queue.account, jobs.Period(tx.Now()), queue.taken); err != nil {
			return err
		}
	}
	return nil
}

// serve claims up to share runs of an account, from its lanes in turn.
func (r *round) serve(ctx context.Context, tx Tx, queue *queue, share int) error {
	last := queue.lanes[len(queue.lanes)-1]
	for i, lane := range queue.lanes {
		fair := max(1, (share-queue.taken)/(len(queue.lanes)-i))
		limit := min(fair, share-queue.taken, r.capacity(queue, lane))
		if limit <= 0 {
			r.limited = true
			continue
		}
		claimed, err := r.take(ctx, tx, lane, limit, &queue.allowed)
		if err != nil {
			return err
		}
		if queue.taken += claimed; claimed > 0 {
			last = lane
		}
	}
	r.rotation.served(queue.account, last, len(queue.lanes))
	return nil
}

// capacity returns how many more runs of a lane may start. Accounts that wait for the same host share its limit, and
// an account that is alone leaves an eighth of it for others.
func (r *round) capacity(queue *queue, lane string) int {
	host := hostOf(lane)
	byAccount, byHost, ofLane := r.worker.inFlight.capacity(queue.account, lane)
	limit := r.worker.Limits.Host
	share := min(limit-limit/8, (limit+r.contenders[host]-1)/r.contenders[host])
	if r.worker.Limits.Lane > 0 {
		share = min(share, r.worker.Limits.Lane)
	}
	return min(byAccount-queue.taken, byHost-r.byHost[host], share-ofLane)
}

// allowance is how many runs an account may still start this month.
type allowance struct {
	plans.Entitlement

	left int
}

func (r *round) allowance(ctx context.Context, tx Tx, account string) (allowance, error) {
	if r.worker.Unmetered {
		return allowance{left: r.worker.Limits.Node}, nil
	}
	holder, err := tx.Account(ctx, account)
	if err != nil {
		return allowance{}, err
	}
	included := r.worker.Plans.Entitlement(holder.Plans, plans.JobsIncludedRuns)
	if included.Maximum == plans.Unlimited {
		return allowance{included, r.worker.Limits.Node}, nil
	}
	period := jobs.Period(tx.Now())
	if err := tx.MeterRuns(ctx, account, period, 0); err != nil { // locks the meter
		return allowance{}, err
	}
	used, err := tx.RunsUsed(ctx, account, period)
	return allowance{included, max(0, included.Maximum-used)}, err
}

// take claims runs of one lane, or refuses them if the plan's runs are used up.
func (r *round) take(ctx context.Context, tx Tx, lane string, limit int, allowed *allowance) (int, error) {
	if allowed.left == 0 {
		detail := fmt.Sprintf("The %s plan includes %d runs a month, and they are used.", allowed.Plan, allowed.Maximum)
		refused, err := tx.RefuseRuns(ctx, lane, detail, maxRefused)
		r.refused += refused
		return 0, err
	}
	wanted := min(limit, allowed.left)
	claims, err := tx.ClaimRuns(ctx, lane, r.worker.Boot, wanted)
	for i := range claims {
		claims[i].Period = jobs.Period(tx.Now())
	}
	r.worker.inFlight.noteClaimed(claims, true)
	r.claims = append(r.claims, claims...)
	r.byHost[hostOf(lane)] += len(claims)
	r.limited = r.limited || len(claims) == wanted
	allowed.left -= len(claims)
	return len(claims), err
}
