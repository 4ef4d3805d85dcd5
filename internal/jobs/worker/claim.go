package worker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/plans"
)

const (
	// lookInterval is how late a run that another node queued can be noticed.
	lookInterval = time.Second
	// backlogInterval is how often runs are claimed while there are more than
	// there is room for.
	backlogInterval = 4 * time.Millisecond
	// turns bounds the accounts that are served by one claim, and the hosts of
	// each of them.
	turns = 32
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
		if ctx.Err() != nil {
			return
		}
		if err != nil && !failing {
			w.Log.Warn("Runs cannot be claimed; it is tried again.", "error", err)
		}
		failing = err != nil
		timer.Reset(pause)
		if pause == backlogInterval { // a wake would only make smaller batches
			select {
			case <-ctx.Done():
			case <-timer.C:
				timer.Reset(0)
			}
		}
	}
}

// claimOnce claims what there is room for, sends it on its way, and tells how
// long to wait before the next claim.
func (w *Worker) claimOnce(ctx context.Context) (time.Duration, error) {
	if !w.lastBeat.fresh(w.Now()) {
		return lookInterval / 10, nil
	}
	if w.flights.free() <= 0 {
		return backlogInterval, nil
	}
	round := &round{worker: w}
	if err := w.Store.Write(ctx, "", func(tx Tx) error { return round.claim(ctx, tx) }); err != nil {
		return lookInterval, err
	}
	w.lastAccount = round.lastAccount
	w.dispatch(ctx, round)
	if round.limited || len(round.claims) > 0 {
		return backlogInterval, nil
	}
	return lookInterval, nil
}

// dispatch starts the requests of a round.
func (w *Worker) dispatch(ctx context.Context, round *round) {
	for range round.refused {
		w.Observe.RunFinished(jobs.Failed, jobs.QuotaExceeded)
	}
	for _, claim := range round.claims {
		configuration := round.configurations[claim.Request]
		flight := w.flights.take(context.WithoutCancel(ctx), claim)
		w.executing.Go(func() { w.execute(flight, claim, configuration) })
	}
}

// round is one transaction that claims runs. It may be tried several times.
type round struct {
	worker         *Worker
	claims         []Claim
	configurations map[string]jobs.Configuration
	refused        int
	// limited tells that more runs are pending than there was room for.
	limited     bool
	lastAccount string
	byHost      map[string]int // claimed in this round
}

func (r *round) claim(ctx context.Context, tx Tx) error {
	*r = round{worker: r.worker, lastAccount: r.worker.lastAccount, byHost: map[string]int{}}
	waiting, err := r.waiting(ctx, tx)
	if err != nil || len(waiting) == 0 {
		return err
	}
	share := max(1, r.worker.flights.free()/len(waiting))
	for _, account := range waiting {
		if len(r.claims) >= r.worker.flights.free() {
			r.limited = true
			break
		}
		r.lastAccount = account
		if err := r.serve(ctx, tx, account, share); err != nil {
			return err
		}
	}
	return r.configure(ctx, tx)
}

// waiting gives the accounts whose turn it is, going on after the last one
// that was served.
func (r *round) waiting(ctx context.Context, tx Tx) ([]string, error) {
	accounts, err := tx.PendingAccounts(ctx, r.lastAccount, turns)
	if err != nil || len(accounts) == turns || r.lastAccount == "" {
		return accounts, err
	}
	first, err := tx.PendingAccounts(ctx, "", turns-len(accounts))
	for _, account := range first {
		if account <= r.lastAccount {
			accounts = append(accounts, account)
		}
	}
	return accounts, err
}

// serve claims up to share runs of an account, from its lanes in turn.
func (r *round) serve(ctx context.Context, tx Tx, account string, share int) error {
	lanes, err := tx.PendingLanes(ctx, account, turns)
	if err != nil {
		return err
	}
	allowance, err := r.allowance(ctx, tx, account)
	if err != nil {
		return err
	}
	taken := 0
	for i, lane := range lanes {
		fair := max(1, (share-taken)/(len(lanes)-i))
		room := r.worker.flights.room(account, hostOf(lane)) - r.byHost[hostOf(lane)]
		if room = min(room, fair, share-taken); room <= 0 {
			r.limited = true
			continue
		}
		claimed, err := r.take(ctx, tx, lane, room, &allowance)
		if err != nil {
			return err
		}
		taken += claimed
	}
	if taken == 0 {
		return nil
	}
	return tx.MeterRuns(ctx, account, jobs.Period(tx.Now()), taken)
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
		return allowance{included, turns * r.worker.Limits.Node}, nil
	}
	period := jobs.Period(tx.Now())
	if err := tx.MeterRuns(ctx, account, period, 0); err != nil { // nobody else counts meanwhile
		return allowance{}, err
	}
	used, err := tx.RunsUsed(ctx, account, period)
	return allowance{included, max(0, included.Maximum-used)}, err
}

// take claims runs of one lane, and refuses those that the plan does not include.
func (r *round) take(ctx context.Context, tx Tx, lane string, room int, allowed *allowance) (int, error) {
	if allowed.left == 0 {
		detail := fmt.Sprintf("The %s plan includes %d runs a month, and they are used.", allowed.Plan, allowed.Maximum)
		refused, err := tx.RefuseRuns(ctx, lane, detail, turns*r.worker.Limits.Node)
		r.refused += refused
		r.limited = r.limited || refused > 0
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

// configure finds what the claimed runs send.
func (r *round) configure(ctx context.Context, tx Tx) error {
	r.configurations = map[string]jobs.Configuration{}
	missing := map[string]bool{}
	for _, claim := range r.claims {
		if configuration, known := r.worker.configurations.get(claim.Request); known {
			r.configurations[claim.Request] = configuration
		} else {
			missing[claim.Request] = true
		}
	}
	if len(missing) == 0 {
		return nil
	}
	read, err := tx.Configurations(ctx, slices.Collect(maps.Keys(missing)))
	for id, configuration := range read {
		r.configurations[id] = configuration
		r.worker.configurations.put(id, configuration)
	}
	return err
}

// maxCachedConfigurations bounds the bytes of the configurations in memory.
const maxCachedConfigurations = 32 << 20

// configurationCache keeps what jobs send. A configuration never changes: a
// job that is changed gets another. Only the claiming goroutine uses it.
type configurationCache struct {
	known map[string]jobs.Configuration
	bytes int
}

func (c *configurationCache) get(id string) (jobs.Configuration, bool) {
	configuration, known := c.known[id]
	return configuration, known
}

// put forgets everything when there is too much: what is in use comes back
// with the next claim.
func (c *configurationCache) put(id string, configuration jobs.Configuration) {
	const overhead = 500
	size := configuration.Size() + overhead
	if c.known == nil || c.bytes+size > maxCachedConfigurations {
		c.known, c.bytes = map[string]jobs.Configuration{}, 0
	}
	c.known[id] = configuration
	c.bytes += size
}
