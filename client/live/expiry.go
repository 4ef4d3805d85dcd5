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
	// overdue is how long after its time a level may stay without a doubt, while the server ends it.
	overdue = 5 * time.Second
	// confirmTimeout is how long the server has to say that it is still there.
	confirmTimeout = 10 * time.Second
)

// expireLevels ends temporary levels when their time comes and the server is away, until ctx ends. While the server is there
// it ends them itself, and the clock of this machine may be wrong: when it seems to be late it is asked, with confirm, now and
// then. A connection that hangs is found out that way.
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

// expireDue applies the levels that are left and returns how long it is until the next one ends, or that the server should
// have ended one.
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

// overdue returns how long it is until a level should long have ended, or that one should.
func (c *contents) overdue(now time.Time) (time.Duration, bool) {
	var due deadline // at the beginning of time, when nothing had ended
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

// see finds the next that ends among the levels of a resource.
func (d *deadline) see(expiry *time.Time, overrides map[string]signalbox.LevelOverride) {
	d.ended(expiry)
	for _, each := range overrides {
		d.ended(each.ExpiresAt)
	}
}

// unexpired returns the contents without the levels that have ended at an instant, and when the next one ends; the zero time if
// none does.
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
