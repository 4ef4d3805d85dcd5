package live

import (
	"context"
	"maps"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/loglevel"
)

const (
	// noExpiry is how long to wait when no level expires.
	noExpiry = time.Hour
	// overdue is how long the server may take to end an expired level before the box asks it.
	overdue = 5 * time.Second
	// confirmTimeout limits the request that asks whether a level still applies.
	confirmTimeout = 10 * time.Second
)

// expireLevels ends temporary levels on time while the server is away, until ctx ends. While the box is live the server ends
// them, because the clock of this machine may be wrong. If the server seems late, confirm asks it, at most once per poll
// interval. That also detects a connection that hangs.
func (b *Box) expireLevels(ctx context.Context, confirm func(context.Context)) {
	var asked time.Time
	for {
		pause, late := b.expireDue()
		if again := time.Until(asked.Add(b.settings.timing.poll)); late && again > 0 {
			pause = again
		} else if late {
			asked = time.Now()
			confirm(ctx)
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-b.expiry:
		case <-time.After(pause):
		}
	}
}

// expireDue applies the levels that have not expired. It returns the time until the next one expires, or late if the server
// should have ended one.
func (b *Box) expireDue() (pause time.Duration, late bool) {
	b.applying.Lock()
	defer b.applying.Unlock()
	known, now := b.contents.Load(), time.Now()
	if b.State().Status == Live {
		if b.expired {
			b.applyLevels(known)
			b.expired = false
		}
		return known.overdue(now)
	}
	left, next := known.unexpired(now)
	b.applyLevels(left)
	b.expired = true
	if next.IsZero() {
		return noExpiry, false
	}
	return next.Sub(now), false
}

// overdue returns the time until the first level is overdue, and whether one already is.
func (c *contents) overdue(now time.Time) (time.Duration, bool) {
	var due deadline // its zero instant is before every expiry, so that next is the first expiry
	for _, logger := range c.loggers {
		due.see(logger.LevelExpiresAt, logger.Environments)
	}
	for _, group := range c.groups {
		due.see(group.LevelExpiresAt, group.Environments)
	}
	if due.next.IsZero() {
		return noExpiry, false
	}
	left := due.next.Add(overdue).Sub(now)
	return left, left <= 0
}

// see updates next with the expiries of a resource's levels.
func (d *deadline) see(expiry *time.Time, overrides map[string]signalbox.LevelOverride) {
	d.ended(expiry)
	for _, each := range overrides {
		d.ended(each.ExpiresAt)
	}
}

// unexpired returns the contents without the levels that have ended at an instant, and when the next level ends, or the zero
// time.
func (c *contents) unexpired(at time.Time) (*contents, time.Time) {
	left, due := *c, deadline{at: at}
	left.loggers = make(map[string]signalbox.Logger, len(c.loggers))
	for key, logger := range c.loggers {
		left.loggers[key] = due.logger(logger)
	}
	left.groups = make(map[string]signalbox.LogGroup, len(c.groups))
	for key, group := range c.groups {
		group.Level, group.Environments, _ = due.levels(group.Level, group.LevelExpiresAt, group.Environments)
		left.groups[key] = group
	}
	return &left, due.next
}

// deadline decides which levels have ended at an instant, and finds the next expiry after it.
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

// logger returns a logger without the levels that have ended. As on the server, a logger that loses its last setting becomes
// unmanaged.
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
