package logging

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/changes"
)

const (
	// patience is the longest that the Expirer sleeps, and so how late it is at
	// the worst.
	patience = time.Second
	// expiryBatch is how many loggers and groups one look is about.
	expiryBatch = 200
)

// Expirer removes levels whose time has come. See the package's documentation
// for its protocol.
type Expirer struct {
	store Store
	log   *slog.Logger

	wake    background.Bell
	loop    background.Loop
	failing bool
}

// NewExpirer makes an Expirer that has not started.
func NewExpirer(store Store, log *slog.Logger) *Expirer {
	return &Expirer{store: store, log: log, wake: background.NewBell()}
}

// Hear takes a change from the feed: a level that expires soon may be new.
func (e *Expirer) Hear(change changes.Change) {
	if change.Kind == Kind || change.Kind == KindGroup {
		e.wake.Ring()
	}
}

// Start begins to look.
func (e *Expirer) Start(ctx context.Context) { e.loop.Start(ctx, e.run) }

// Stop ends when the look that is going on has ended.
func (e *Expirer) Stop() { e.loop.Stop() }

func (e *Expirer) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-e.wake:
		}
		timer.Reset(e.look(ctx))
	}
}

// look removes what is due and tells how long to sleep.
func (e *Expirer) look(ctx context.Context) time.Duration {
	wait, err := e.Expire(ctx)
	switch {
	case err == nil:
		e.failing = false
		return wait
	case ctx.Err() == nil && !e.failing:
		e.failing = true
		e.log.Warn("Levels that expire cannot be looked after; it is tried again every second.", "error", err)
	}
	return patience
}

// Expire removes the levels that are due and tells how long it is until the
// next one, at most a second.
func (e *Expirer) Expire(ctx context.Context) (time.Duration, error) {
	for {
		due, wait, err := e.due(ctx)
		if err != nil || len(due) == 0 {
			return wait, err
		}
		removed := 0
		for account, expiring := range due {
			count, err := e.remove(ctx, account, expiring)
			if err != nil {
				return 0, err
			}
			removed += count
		}
		if removed == 0 { // others were first, or the clock was set back
			return patience, nil
		}
	}
}

// due gives what is due, by account, and how long the next one has.
func (e *Expirer) due(ctx context.Context) (due map[string][]Expiring, wait time.Duration, err error) {
	due, wait = map[string][]Expiring{}, patience
	err = e.store.Read(ctx, func(tx ReadTx) error {
		next, err := tx.ExpiringLevels(ctx, expiryBatch)
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

// remove takes away the levels of an account that are due and counts the
// loggers and groups that had one.
func (e *Expirer) remove(ctx context.Context, account string, expiring []Expiring) (int, error) {
	return changes.Write(ctx, e.store, account, func(tx Tx) (int, error) {
		loggers, groups := keysOf(expiring)
		first, err := expireLoggers(ctx, tx, account, loggers)
		if err != nil {
			return 0, err
		}
		second, err := expireGroups(ctx, tx, account, groups)
		return first + second, err
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

// system is who removes levels that expire.
func system() changes.Actor {
	return changes.Actor{Type: changes.ActorSystem, ID: "level-expiry", Name: "Level expiry"}
}

func expireLoggers(ctx context.Context, tx Tx, account string, keys []string) (removed int, err error) {
	loggers, err := tx.LoggersByKey(ctx, account, keys)
	if err != nil {
		return 0, err
	}
	for _, before := range loggers {
		left, less := before.expired(tx.Now())
		if !less { // another node was first, or the level was changed
			continue
		}
		after := before
		after.Levels, after.UpdatedAt = left, tx.Now()
		after = after.settled()
		if err := tx.SaveLoggers(ctx, []Logger{after}); err != nil {
			return 0, err
		}
		if err := changes.RecordAs(ctx, tx, account, system(), changes.Expired, Kind, before.Key, &before, &after); err != nil {
			return 0, err
		}
		removed++
	}
	return removed, nil
}

func expireGroups(ctx context.Context, tx Tx, account string, keys []string) (removed int, err error) {
	groups, err := tx.LogGroupsByKey(ctx, account, keys)
	if err != nil {
		return 0, err
	}
	for _, before := range groups {
		left, less := before.expired(tx.Now())
		if !less {
			continue
		}
		after := before
		after.Levels, after.UpdatedAt = left, tx.Now()
		if err := tx.SaveLogGroup(ctx, after); err != nil {
			return 0, err
		}
		if err := changes.RecordAs(ctx, tx, account, system(), changes.Expired, KindGroup, before.Key, &before, &after); err != nil {
			return 0, err
		}
		removed++
	}
	return removed, nil
}
