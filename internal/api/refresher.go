package api

import (
	"context"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/background"
)

// How often snapshots and flags in memory are refreshed in the background.
const (
	// refreshPause is the shortest pause between two refreshes of an account. After a long
	// refresh the pause is refreshShare times as long as the refresh.
	refreshPause = time.Second
	refreshShare = 4
	// refreshBudget ends the refresh of an account with many snapshots, so that other
	// accounts get their turn. The refresh continues after the pause.
	refreshBudget = 2 * time.Second
	// confirmInterval is how often unchanged snapshots and flags are confirmed as current.
	confirmInterval = 5 * time.Second
)

// refresher keeps the snapshots and compiled flags in memory as current as the change
// feed. While the database is away, evaluation is answered with them. Without the
// refresher, a node would then serve the state of the last request, although services
// have received events of later changes.
//
// The first change of an account is followed at once, further changes once a second. Only
// snapshots that were used within maxStale are refreshed: older ones are not served in an
// outage.
type refresher struct {
	api  *API
	wake background.Bell
	loop background.Loop

	confirmed time.Time // when confirm last ran; used by the loop only

	mu     sync.Mutex
	heard  map[string]int64     // the last change of each account
	behind map[string]time.Time // accounts to refresh, and the earliest time of the refresh
	rests  map[string]time.Time // refreshed accounts, and the end of their pause
}

func newRefresher(a *API) *refresher {
	r := &refresher{api: a, wake: background.NewBell()}
	r.forget()
	return r
}

// forget drops all numbers: after a restore of the database they are no longer valid.
func (r *refresher) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard, r.behind, r.rests = map[string]int64{}, map[string]time.Time{}, map[string]time.Time{}
}

// moved notes that an account has changes up to seq. It never blocks.
func (r *refresher) moved(account string, seq int64) {
	r.mu.Lock()
	r.heard[account] = max(r.heard[account], seq)
	if _, noted := r.behind[account]; !noted {
		r.behind[account] = r.rests[account]
	}
	r.mu.Unlock()
	r.wake.Ring()
}

func (r *refresher) start(ctx context.Context) {
	r.loop.Start(ctx, func(ctx context.Context) {
		background.Repeat(ctx, r.wake, r.round, func(err error) {
			r.api.Log.Warn("Refreshing the snapshots and flags kept for an outage failed; retrying.", "error", err)
		})
	})
}

// round refreshes the due accounts, and returns the time until the next one is due.
func (r *refresher) round(ctx context.Context) (pause time.Duration, err error) {
	for account, seq := range r.due() {
		if failed := r.refresh(ctx, account, seq); failed != nil && !isAway(ctx, failed) { // the feed logs an outage
			err = failed
		}
	}
	if r.api.Live != nil && r.api.Live() && time.Since(r.confirmed) >= confirmInterval {
		r.confirmed = time.Now()
		r.confirm()
	}
	return r.pause(), err
}

// due removes and returns the accounts that may be refreshed now.
func (r *refresher) due() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, now := map[string]int64{}, time.Now()
	for account, from := range r.behind {
		if !now.Before(from) {
			found[account] = r.heard[account]
			delete(r.behind, account)
		}
	}
	for account, until := range r.rests {
		if now.After(until) {
			delete(r.rests, account)
		}
	}
	return found
}

func (r *refresher) pause() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	pause := confirmInterval
	for _, from := range r.behind {
		pause = min(pause, max(time.Until(from), time.Millisecond))
	}
	return pause
}

// refresh brings the flags and snapshots of an account up to change seq. If the budget ends
// before all are refreshed, the rest is refreshed after a pause.
func (r *refresher) refresh(ctx context.Context, account string, seq int64) error {
	began := time.Now()
	again := false
	held, err := r.api.FlagSnapshots.Refresh(ctx, account, seq)
	if held && err == nil {
		r.api.outage.confirm(account)
	}
	for _, kept := range r.api.loaded.lately(account, began.Add(-maxStale)) {
		if err != nil && isAway(ctx, err) || time.Since(began) > refreshBudget {
			again = true
			break
		}
		if failed := r.api.loaded.refresh(ctx, kept.key, kept.held, seq); failed != nil {
			err = failed
		}
	}
	r.rest(account, time.Now().Add(max(refreshPause, refreshShare*time.Since(began))), again || err != nil && isAway(ctx, err))
	return err
}

// rest starts the pause of an account. If again, or if the account has changed meanwhile, it
// is refreshed after the pause.
func (r *refresher) rest(account string, until time.Time, again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rests[account] = until
	if _, noted := r.behind[account]; noted || again {
		r.behind[account] = until
	}
}

// confirm marks snapshots and flags that include the last known change as current. They
// were current at the last poll of the feed, at most a second ago.
func (r *refresher) confirm() {
	at := time.Now().Add(-time.Second)
	for _, kept := range r.api.loaded.lately("", at.Add(-maxStale)) {
		if kept.held.atLeast(r.last(kept.key.account)) != nil {
			kept.held.confirm(at)
		}
	}
	for _, account := range r.api.outage.accounts() {
		if r.api.FlagSnapshots.IsAt(account, r.last(account)) {
			r.api.outage.confirmAt(account, at)
		}
	}
}

func (r *refresher) last(account string) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.heard[account]
}
