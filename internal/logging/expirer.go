package logging

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/transaction"
)

const (
	// maxSleep is the longest sleep of the Expirer, and so its largest delay.
	maxSleep = time.Second
	// expiryBatch is how many loggers and groups are read at once.
	expiryBatch = 200
	// expiryPart is how many loggers and groups of an account one transaction changes. expiryTimeout
	// bounds a transaction and its wait for the lock.
	expiryPart    = 50
	expiryTimeout = 3 * time.Second
	// expiryAccounts is how many accounts are served at the same time.
	expiryAccounts = 4
)

// Expirer removes expired levels. The package documentation describes its protocol.
type Expirer struct {
	store Store
	log   *slog.Logger
	// Paused reports whether nothing may expire now, because this node's clock is wrong. Nil never
	// pauses.
	Paused background.Pause

	wake background.Bell
	loop background.Loop
}

// NewExpirer creates an Expirer that has not started.
func NewExpirer(store Store, log *slog.Logger) *Expirer {
	return &Expirer{store: store, log: log, wake: background.NewBell()}
}

// Hear receives a change from the feed. It wakes the Expirer, because the change may add a level that
// expires soon.
func (e *Expirer) Hear(change changes.Change) {
	if change.Kind == Kind || change.Kind == KindGroup {
		e.wake.Ring()
	}
}

// Start starts the loop that removes expired levels.
func (e *Expirer) Start(ctx context.Context) {
	e.loop.Start(ctx, func(ctx context.Context) {
		background.Repeat(ctx, e.wake, e.Expire, func(err error) {
			e.log.Warn("Removing expired levels failed; retrying every second. Levels stay in effect until it works.", "error", err)
		})
	})
}

// Stop waits for the current removal and ends the Expirer.
func (e *Expirer) Stop() { e.loop.Stop() }

// Expire removes the due levels and returns the time until the next expiry, at most a second. If an
// account fails, it is left for the next call. The error joins the errors of all accounts.
func (e *Expirer) Expire(ctx context.Context) (time.Duration, error) {
	var failed []string
	var errs []error
	for {
		due, wait, err := e.due(ctx, failed)
		if err != nil || len(due) == 0 {
			return wait, errors.Join(append(errs, err)...)
		}
		var mu sync.Mutex
		removed, known := 0, len(failed)
		background.Each(expiryAccounts, due, func(account string, expiring []Expiring) {
			count, err := e.remove(ctx, account, expiring)
			mu.Lock()
			defer mu.Unlock()
			removed += count
			if err != nil {
				failed, errs = append(failed, account), append(errs, err)
			}
		})
		if removed == 0 && len(failed) == known { // other nodes were faster, or the clock was set back
			return maxSleep, errors.Join(errs...)
		}
	}
}

// due returns the due loggers and groups by account, and the time until the next expiry. It skips the
// accounts in except.
func (e *Expirer) due(ctx context.Context, except []string) (due map[string][]Expiring, wait time.Duration, err error) {
	due, wait = map[string][]Expiring{}, maxSleep
	err = e.store.Read(ctx, func(ctx context.Context, tx ReadTx) error {
		next, err := tx.ExpiringLevels(ctx, except, expiryBatch)
		if e.Paused.IsOn() {
			return err
		}
		for _, each := range next {
			if left := each.At.Sub(tx.Now()); left > 0 {
				wait = min(wait, left)
				break
			}
			due[each.Account] = append(due[each.Account], each)
		}
		return err
	})
	return due, wait, err
}

// remove removes the due levels of an account. It returns how many loggers and groups it changed.
func (e *Expirer) remove(ctx context.Context, account string, expiring []Expiring) (removed int, err error) {
	for part := range slices.Chunk(expiring, expiryPart) {
		count, err := e.removePart(ctx, account, part)
		if err != nil {
			return removed, err
		}
		removed += count
	}
	return removed, nil
}

func (e *Expirer) removePart(ctx context.Context, account string, expiring []Expiring) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, expiryTimeout)
	defer cancel()
	return transaction.Write(ctx, e.store, account, func(ctx context.Context, tx Tx) (int, error) {
		loggerKeys, groupKeys := keysOf(expiring)
		loggers, err := tx.LoggersByKey(ctx, account, loggerKeys)
		if err != nil {
			return 0, err
		}
		groups, err := tx.LogGroupsByKey(ctx, account, groupKeys)
		if err != nil {
			return 0, err
		}
		expiry := changes.Actor{Type: changes.ActorSystem, ID: "level-expiry", Name: "Level expiry"}
		if e.Paused.IsOn() { // the clock may have become wrong before this transaction
			return 0, nil
		}
		why, expire := cause{account, expiry, changes.Expired}, func(levels Levels) (Levels, bool) { return levels.expired(tx.Now()) }
		// If another node was faster, or the level was changed, nothing is left to remove.
		first, err := changeLevels(ctx, tx, why, Kind, loggers, expire, tx.SaveLoggers)
		if err != nil {
			return 0, err
		}
		second, err := changeLevels(ctx, tx, why, KindGroup, groups, expire, tx.SaveLogGroups)
		return len(first) + len(second), err
	})
}

func keysOf(expiring []Expiring) (loggers, groups []string) {
	for _, each := range expiring {
		if each.Kind == KindGroup {
			groups = append(groups, each.Key)
		} else {
			loggers = append(loggers, each.Key)
		}
	}
	return loggers, groups
}
