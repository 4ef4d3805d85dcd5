package api

import (
	"context"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/background"
)

// How often what is in memory is brought up to date in the background.
const (
	// refreshPause is the shortest time between two refreshes of an account. A refresh
	// that takes long is followed by a pause of refreshShare times as long.
	refreshPause = time.Second
	refreshShare = 4
	// refreshBudget ends a refresh of an account that has many snapshots, so that
	// other accounts have their turn. It goes on after the pause.
	refreshBudget = 2 * time.Second
	// confirmInterval is how often what did not change is noted to be current.
	confirmInterval = 5 * time.Second
)

// refresher keeps what evaluation is answered with while the database is away, the
// snapshots and the compiled flags, as current as the feed is while the database is
// there. Without it a node would go back in an outage: to whatever somebody asked for
// last, although services have been told of later changes since.
//
// The first change of an account is followed at once, further ones once a second. Only
// what was asked for within maxStale is refreshed: older snapshots are not served in an
// outage.
type refresher struct {
	api  *API
	wake background.Bell
	loop background.Loop

	confirmed time.Time // when what did not change was last noted to be current; of the loop only

	mu     sync.Mutex
	heard  map[string]int64     // the last change of each account
	behind map[string]time.Time // accounts to refresh, and from when on that may be done
	rests  map[string]time.Time // accounts that were refreshed, and until when they are not again
}

func newRefresher(a *API) *refresher {
	r := &refresher{api: a, wake: background.NewBell()}
	r.forget()
	return r
}

// forget drops what was heard: after a restore accounts number their changes anew.
func (r *refresher) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard, r.behind, r.rests = map[string]int64{}, map[string]time.Time{}, map[string]time.Time{}
}

// moved notes that an account has changes up to a number. It never blocks.
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
			r.api.Log.Warn("Refreshing what is kept for an outage failed; retrying.", "error", err)
		})
	})
}

// round refreshes the accounts that are due, and returns when the next one is.
func (r *refresher) round(ctx context.Context) (pause time.Duration, err error) {
	for account, seq := range r.due() {
		if failed := r.refresh(ctx, account, seq); failed != nil && !isAway(ctx, failed) { // the feed tells of an outage
			err = failed
		}
	}
	if r.api.Live != nil && r.api.Live() && time.Since(r.confirmed) >= confirmInterval {
		r.confirmed = time.Now()
		r.confirm()
	}
	return r.pause(), err
}

// due takes the accounts that may be refreshed now.
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

// refresh brings what is in memory of an account up to a change. What remains is done
// after a pause.
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

// rest keeps an account from being refreshed until an instant, and has it refreshed then
// if that is needed.
func (r *refresher) rest(account string, until time.Time, again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rests[account] = until
	if _, noted := r.behind[account]; noted || again {
		r.behind[account] = until
	}
}

// confirm notes that everything that has all changes that were heard of is current. It
// was so when the feed last asked, a second ago at most.
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
