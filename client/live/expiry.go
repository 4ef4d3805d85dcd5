package live

import (
	"context"
	"maps"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/loglevel"
)

// noExpiry is how long to wait when no level expires.
const noExpiry = time.Hour

// expireLevels ends temporary levels when their time comes and the server is away, until ctx ends. While the server is there
// it ends them itself, and the clock of this machine may be wrong.
func (b *Box) expireLevels(ctx context.Context) {
	for {
		timer := time.NewTimer(b.expireDue())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-b.expiry:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// expireDue applies the levels that are left and returns how long it is until the next one ends.
func (b *Box) expireDue() time.Duration {
	b.applying.Lock()
	defer b.applying.Unlock()
	known, now := b.current(), time.Now()
	left, next := known.unexpired(now)
	if b.State().Status == Live {
		b.applyLevels(known)
		return noExpiry
	}
	b.applyLevels(left)
	if next.IsZero() {
		return noExpiry
	}
	return next.Sub(now)
}

// noteExpiry says that the state, or what expires, has changed.
func (b *Box) noteExpiry() {
	select {
	case b.expiry <- struct{}{}:
	default:
	}
}

// unexpired returns the world without the levels that have ended at an instant, and when the next one ends; the zero time if
// none does.
func (w *world) unexpired(at time.Time) (*world, time.Time) {
	left, due := *w, deadline{at: at}
	left.loggers = make(map[string]signalbox.Logger, len(w.loggers))
	for key, logger := range w.loggers {
		left.loggers[key] = due.logger(logger)
	}
	left.groups = make(map[string]signalbox.LogGroup, len(w.groups))
	for key, group := range w.groups {
		group.Level, group.Environments, _ = due.levels(group.Level, group.LevelExpiresAt, group.Environments)
		left.groups[key] = group
	}
	return &left, due.next
}

// deadline decides which levels have ended at an instant, and finds the next that will.
type deadline struct{ at, next time.Time }

func (d *deadline) ended(expiry *time.Time) bool {
	if expiry == nil {
		return false
	}
	if !expiry.After(d.at) {
		return true
	}
	if d.next.IsZero() || expiry.Before(d.next) {
		d.next = *expiry
	}
	return false
}

// logger returns a logger without the levels that have ended. As on the server, one that is left with nothing is released.
func (d *deadline) logger(logger signalbox.Logger) signalbox.Logger {
	var ended bool
	logger.Level, logger.Environments, ended = d.levels(logger.Level, logger.LevelExpiresAt, logger.Environments)
	if ended {
		logger.Managed = logger.Level != loglevel.None || len(logger.Environments) > 0 || logger.Group != nil
	}
	return logger
}

func (d *deadline) levels(base loglevel.Level, expiry *time.Time, overrides map[string]signalbox.LevelOverride) (
	loglevel.Level, map[string]signalbox.LevelOverride, bool,
) {
	ended := d.ended(expiry)
	if ended {
		base = loglevel.None
	}
	left := maps.Clone(overrides)
	maps.DeleteFunc(left, func(_ string, each signalbox.LevelOverride) bool { return d.ended(each.ExpiresAt) })
	return base, left, ended || len(left) < len(overrides)
}
