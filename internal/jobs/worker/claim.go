package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/plans"
)

// claimAll claims runs until ctx ends.
func (w *Worker) claimAll(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		case <-timer.C:
		}
		pause, err := w.claimOnce(ctx)
		if err != nil && !failing {
			w.Log.Warn("Runs cannot be claimed; it is tried again.", "error", err)
		}
		failing = err != nil
		timer.Reset(pause)
		if pause == w.Pace.Backlog { // a wake would only make smaller batches
			select {
			case <-ctx.Done():
			case <-timer.C:
				timer.Reset(0)
			}
		}
	}
}

// claimOnce claims what there is room for, sends it on its way, and tells how
// long to wait before the next claim. A claim that was begun is ended whatever
// becomes of ctx: what it takes has to be executed.
func (w *Worker) claimOnce(ctx context.Context) (time.Duration, error) {
	w.flights.expect() // before the look at lives: a fuse that burns down from here on is heard of
	defer w.flights.expected()
	if !w.lives.Load() {
		return w.Pace.Look / 10, nil
	}
	w.short.Store(true) // from here on, whoever lands says so
	if w.flights.free() <= 0 {
		return w.Pace.Look, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.Pace.GiveUpOwn)
	defer cancel()
	if err := w.disown(ctx); err != nil {
		return w.Pace.Look, err
	}
	round := &round{worker: w}
	if err := w.Store.Write(ctx, "", func(tx Tx) error { return round.claim(ctx, tx) }); err != nil {
		w.uncertain = true
		return w.Pace.Look, err
	}
	w.turns = round.turns
	w.dispatch(ctx, round)
	w.short.Store(round.limited)
	if w.sweep.goesOn(round) {
		return w.Pace.Backlog, nil
	}
	return w.Pace.Look, nil
}

// disown fails runs that a claim took without this worker hearing of it: the
// connection broke while it was committed. Only the claiming goroutine takes
// runs, so those that it does not know now are not about to become known.
func (w *Worker) disown(ctx context.Context) error {
	if !w.uncertain {
		return nil
	}
	known, settled := w.flights.unsettled(), false
	var lost []Outcome
	err := w.Store.Write(ctx, "", func(tx Tx) (err error) {
		lost = nil
		if settled, err = tx.Settled(ctx, w.Boot); err != nil || !settled {
			return err
		}
		owned, err := tx.Owned(ctx, w.Boot)
		for _, run := range owned {
			if !known[run] {
				outcome := failure(jobs.WorkerLost, "The connection to the database broke while the run was claimed, so it was not attempted.", nil)
				outcome.Run, outcome.FinishedAt = run, tx.Now()
				lost = append(lost, outcome)
			}
		}
		return err
	})
	if err == nil && len(lost) > 0 {
		_, err = w.Store.FinishRuns(ctx, w.Boot, lost)
	}
	w.uncertain = err != nil || !settled
	return err
}

// dispatch starts the requests of a round. What they send is read now if it is
// not known: in the claim, that would keep SQLite's writer from everybody.
func (w *Worker) dispatch(ctx context.Context, round *round) {
	for range round.refused {
		w.Observe.RunFinished(jobs.Failed, jobs.QuotaExceeded)
	}
	ctx = context.WithoutCancel(ctx)
	reads, unread := newReading(ctx)
	defer unread.leave()
	for _, claim := range round.claims {
		flight := w.flights.take(ctx, claim)
		configuration, known := w.configurations.get(claim.Request)
		if !known {
			unread.want(claim.Request)
		}
		w.executing.Go(func() {
			readable := known
			if !known {
				configuration, readable = unread.wait(flight, claim.Request)
			}
			if readable {
				w.execute(flight, claim, configuration)
				return
			}
			w.land(claim)
			w.report(claim, failure(jobs.ConnectionError, "What the job sends cannot be read from the database; nothing was sent.", nil))
		})
	}
	if len(unread.wanted) > 0 {
		w.executing.Go(func() { w.read(reads, unread) })
	}
}

// round is one transaction that claims runs. It may be tried several times.
type round struct {
	worker  *Worker
	claims  []Claim
	refused int
	// limited tells that more runs may be pending than there was room for,
	// crowded that there are more accounts or hosts than one round looks at.
	limited, crowded bool
	looked           []string // accounts and lanes
	turns            turns
	byHost           map[string]int // claimed in this round
	contenders       map[string]int // accounts with runs for a host
}

// queue is what waits of one account.
type queue struct {
	account string
	lanes   []string
	allowed allowance
	taken   int
}

func (r *round) claim(ctx context.Context, tx Tx) error {
	*r = round{worker: r.worker, turns: r.worker.turns.copy(), byHost: map[string]int{}, contenders: map[string]int{}}
	// Whoever gives this worker up meanwhile waits, and then finds its claims.
	if lives, err := tx.Lives(ctx, r.worker.Boot); err != nil || !lives {
		return err
	}
	waiting, err := r.inTurn(r.turns.account, func(after string, limit int) ([]string, error) { return tx.PendingAccounts(ctx, after, limit) })
	if err != nil || len(waiting) == 0 {
		return err
	}
	free := r.worker.flights.free()
	if len(waiting) > free {
		waiting, r.limited = waiting[:free], true
	}
	r.turns.account = waiting[len(waiting)-1]
	// One order: nodes that meter the same accounts must not wait for each other.
	queues, err := r.queues(ctx, tx, slices.Sorted(slices.Values(waiting)))
	if err != nil || len(queues) == 0 {
		return err
	}
	return r.serveAll(ctx, tx, queues, free/len(queues))
}

// queues finds what waits of accounts and how much of it their plans allow.
func (r *round) queues(ctx context.Context, tx Tx, accounts []string) ([]*queue, error) {
	var queues []*queue
	for _, account := range accounts {
		r.looked = append(r.looked, account)
		if r.worker.flights.roomOf(account) <= 0 {
			r.limited = true
			continue
		}
		lanes, err := r.inTurn(r.turns.lanes[account], func(after string, limit int) ([]string, error) {
			return tx.PendingLanes(ctx, account, after, limit)
		})
		if err != nil {
			return nil, err
		}
		if len(lanes) == 0 { // another node has them
			continue
		}
		allowed, err := r.allowance(ctx, tx, account)
		if err != nil {
			return nil, err
		}
		for _, lane := range lanes {
			r.contenders[hostOf(lane)]++
		}
		r.looked = append(r.looked, lanes...)
		queues = append(queues, &queue{account: account, lanes: lanes, allowed: allowed})
	}
	return queues, nil
}

// serveAll claims up to share runs of each queue and meters them. Whoever is
// first gets the room that many wait for, so it is somebody else every time: no
// order that repeats is fair to all hosts at once.
func (r *round) serveAll(ctx context.Context, tx Tx, queues []*queue, share int) error {
	for _, i := range rand.Perm(len(queues)) {
		if err := r.serve(ctx, tx, queues[i], share); err != nil {
			return err
		}
	}
	for _, queue := range queues {
		if queue.taken == 0 {
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
		room := min(fair, share-queue.taken, r.room(queue, lane))
		if room <= 0 {
			r.limited = true
			continue
		}
		claimed, err := r.take(ctx, tx, lane, room, &queue.allowed)
		if err != nil {
			return err
		}
		if queue.taken += claimed; claimed > 0 {
			last = lane
		}
	}
	r.turns.served(queue.account, last, len(queue.lanes))
	return nil
}

// room is how many more runs of a lane may be in flight. Accounts that wait
// for the same host share it, and one that is alone leaves something for
// whoever comes next: its requests may take long.
func (r *round) room(queue *queue, lane string) int {
	host := hostOf(lane)
	byAccount, byHost, inFlight := r.worker.flights.room(queue.account, lane)
	limit := r.worker.Limits.Host
	share := min(limit-limit/8, (limit+r.contenders[host]-1)/r.contenders[host])
	return min(byAccount-queue.taken, byHost-r.byHost[host], share-inFlight)
}

// allowance is how many runs an account may still start this month.
type allowance struct {
	plans.Entitlement

	left int
}

func (r *round) allowance(ctx context.Context, tx Tx, account string) (allowance, error) {
	holder, err := tx.Account(ctx, account)
	if err != nil {
		return allowance{}, err
	}
	included := r.worker.Plans.Entitlement(holder.Plans, plans.JobsIncludedRuns)
	if included.Maximum == plans.Unlimited {
		return allowance{included, r.worker.Limits.Node}, nil
	}
	period := jobs.Period(tx.Now())
	if err := tx.MeterRuns(ctx, account, period, 0); err != nil { // nobody else counts meanwhile
		return allowance{}, err
	}
	used, err := tx.RunsUsed(ctx, account, period)
	return allowance{included, max(0, included.Maximum-used)}, err
}

// refusals bounds how many runs one round refuses in a lane.
const refusals = 1000

// take claims runs of one lane, and refuses those that the plan does not include.
func (r *round) take(ctx context.Context, tx Tx, lane string, room int, allowed *allowance) (int, error) {
	if allowed.left == 0 {
		detail := fmt.Sprintf("The %s plan includes %d runs a month, and they are used.", allowed.Plan, allowed.Maximum)
		refused, err := tx.RefuseRuns(ctx, lane, detail, refusals)
		r.refused += refused
		return 0, err
	}
	wanted := min(room, allowed.left)
	claims, err := tx.ClaimRuns(ctx, lane, r.worker.Boot, wanted)
	r.claims = append(r.claims, claims...)
	r.byHost[hostOf(lane)] += len(claims)
	r.limited = r.limited || len(claims) == wanted
	allowed.left -= len(claims)
	return len(claims), err
}
