package app

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
)

const (
	// maxDifference is how far a node's clock may be from the database's.
	maxDifference = time.Minute
	// aheadTrial and behindTrial are how long a clock that was set, on SQLite, has to go on steadily before it is believed.
	// A clock that is behind the stored time is more likely to be wrong than a clock that is ahead.
	aheadTrial, behindTrial = 10 * time.Minute, time.Hour
	// longStop is how long a server on SQLite may have been stopped before its clock is doubted. A doubted clock is used,
	// but not stored for doubtPeriod: if it is corrected in that time, the server believes the correction at once.
	longStop, doubtPeriod = 30 * 24 * time.Hour, time.Hour
	// markInterval is how often the time is stored on SQLite.
	markInterval = time.Minute
	// clockReminder is how often a wrong clock is logged again.
	clockReminder = 10 * time.Minute
)

// databaseClock is the database's side of a clock.
type databaseClock interface {
	Name() string
	// Clock returns the server's time, or on SQLite the newest time that is stored; zero when there is none.
	Clock(ctx context.Context) (time.Time, error)
	// MarkClock stores a time on SQLite.
	MarkClock(ctx context.Context, at time.Time) error
}

// clock compares this node's clock with the database's. While they differ by more than a minute the node is not ready,
// and fires, claims, expires and removes nothing. SQLite has no clock: there the node's clock is compared with the stored
// time and, while the node runs, with the time that has passed since. See docs/decisions/0040-clocks.md.
type clock struct {
	db databaseClock
	// stores is true on SQLite, which has no clock: there the time is stored.
	stores bool
	log    *slog.Logger
	now    func() time.Time
	// passed returns the time since the start, even if the clock is set meanwhile.
	passed func() time.Duration

	mu       sync.Mutex
	known    bool
	right    time.Time     // the database's time at the last comparison
	at       time.Duration // when the last comparison was
	trial    *clockTrial   // nil while the clock is right
	doubt    *clockDoubt   // nil, or why the time is not stored yet
	late     bool          // the clock was behind the stored time at the start, and has not been right since
	markedAt *time.Duration
	toldAt   *time.Duration // when a wrong clock was logged; nil while it is right
}

// clockTrial is the difference of a clock from the expected time, and since when it has this difference.
type clockTrial struct {
	difference time.Duration
	since      time.Duration
}

// clockDoubt is a clock that was far ahead of the newest stored time at the start.
type clockDoubt struct {
	stored time.Time
	until  time.Duration
}

func newClock(db databaseClock, log *slog.Logger, now func() time.Time) *clock {
	started := time.Now()
	return &clock{db: db, stores: db.Name() == "sqlite", log: log, now: now, passed: func() time.Duration { return time.Since(started) }}
}

// check compares the clocks, stores the time if it is right, and logs if it is wrong.
func (c *clock) check(ctx context.Context) {
	if err := c.compare(ctx); err != nil && ctx.Err() == nil {
		c.log.Warn("Comparing this node's clock with the database's failed; retrying.", "error", err)
	}
	if at, due := c.dueMark(); due {
		if err := c.db.MarkClock(ctx, at); err == nil { // the heartbeat says why a write fails
			c.marked()
		}
	}
	c.tell()
}

// compare reads the database's time. On SQLite it continues from the stored one.
func (c *clock) compare(ctx context.Context) error {
	began := c.passed()
	if !c.stores {
		at, err := c.db.Clock(ctx)
		if err == nil {
			c.set(at, (began+c.passed())/2) // the database read its clock about halfway
		}
		return err
	}
	if !c.isKnown() {
		stored, err := c.db.Clock(ctx)
		if err != nil {
			return err
		}
		c.begin(stored)
	}
	c.follow()
	return nil
}

func (c *clock) isKnown() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known
}

func (c *clock) set(right time.Time, at time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known, c.right, c.at = true, right.Round(0), at
}

// begin starts from the newest time that is stored on SQLite: now is not earlier. How much later now is cannot be known,
// because the server may have been stopped for any time.
func (c *clock) begin(stored time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known, c.right, c.at = true, c.now().Round(0), c.passed()
	if stored.After(c.right) {
		c.right, c.late = stored, true
		return
	}
	if stopped := c.right.Sub(stored); !stored.IsZero() && stopped > longStop {
		c.log.Warn("The clock is far ahead of the newest time that is stored. If this server was not stopped for that long, its clock is wrong: stop it and correct the clock.",
			"ahead", spelledDays(stopped), "newest", stored)
		c.doubt = &clockDoubt{stored, c.at + doubtPeriod}
	}
}

// follow lets small steps of the clock count as right, and believes a clock that was set after a trial.
func (c *clock) follow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	passed, now, difference := c.passed(), c.now().Round(0), c.differenceLocked()
	if c.doubt != nil && passed >= c.doubt.until {
		c.doubt = nil
	}
	switch {
	case difference.Abs() <= maxDifference:
		c.trial = nil
	case c.doubt != nil && difference < 0 && !now.Before(c.doubt.stored): // the clock was wrong at the start, and is corrected
		c.trial, c.doubt = nil, nil
	case c.late && difference > 0: // the clock was set to a time that would have been believed at the start
		c.trial = nil
	case c.trial == nil || (difference-c.trial.difference).Abs() > maxDifference:
		c.trial = &clockTrial{difference, passed}
		return
	case passed-c.trial.since < trialOf(difference):
		return
	default:
		c.trial, c.markedAt = nil, nil // the time is stored at once
		c.log.Warn("This node's clock was set and has been steady since; it is taken as right from now on.", "difference", spelledDays(difference))
	}
	c.right, c.at, c.late = now, passed, false
}

func trialOf(difference time.Duration) time.Duration {
	if difference > 0 {
		return aheadTrial
	}
	return behindTrial
}

// differenceLocked returns how far this node's clock is ahead of the database's.
func (c *clock) differenceLocked() time.Duration {
	return c.now().Round(0).Sub(c.right.Add(c.passed() - c.at))
}

// difference returns how far this node's clock is ahead of the database's; false before the first comparison. If
// the clock is set between two comparisons, the result shows it at once.
func (c *clock) difference() (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known {
		return 0, false
	}
	return c.differenceLocked(), true
}

// time returns the time of the database.
func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.right.Add(c.passed() - c.at)
}

// isWrong reports whether this node must do nothing that depends on its clock.
func (c *clock) isWrong() bool {
	difference, known := c.difference()
	return !known || difference.Abs() > maxDifference
}

// err returns why a node with this clock is not ready, or nil.
func (c *clock) err() error {
	difference, known := c.difference()
	switch {
	case !known:
		return fault.New(fault.Unavailable, "The clock of this node has not been compared with the database's yet.")
	case difference.Abs() > maxDifference:
		return fault.New(fault.Unavailable, "The clock of this node is %s; until that is corrected it fires, expires and removes nothing.", c.compared(difference))
	}
	return nil
}

// compared returns a difference in words.
func (c *clock) compared(difference time.Duration) string {
	what := "the database's"
	if c.stores {
		what = "the time that is stored in the database"
	}
	if difference < 0 {
		return spelledDays(difference) + " behind " + what
	}
	return spelledDays(difference) + " ahead of " + what
}

// accepted says when a wrong clock is taken as right.
func (c *clock) accepted(difference time.Duration) string {
	if c.stores {
		return "if it goes on steadily for " + trialOf(difference).String()
	}
	return "when it is within " + maxDifference.String()
}

// spelledDays returns a duration in words, in days if it is long.
func spelledDays(d time.Duration) string {
	if d = d.Abs(); d >= 48*time.Hour {
		return fmt.Sprintf("%d days", int(math.Round(d.Hours()/24)))
	}
	return d.Round(time.Second).String()
}

// dueMark returns the time to store on SQLite, if the clock is right and no time was stored lately.
func (c *clock) dueMark() (time.Time, bool) {
	if !c.stores || c.isWrong() {
		return time.Time{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now().Round(0), c.doubt == nil && (c.markedAt == nil || c.passed()-*c.markedAt >= markInterval)
}

func (c *clock) marked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.markedAt = new(c.passed())
}

// tell logs when the clock becomes wrong, again every clockReminder, and when it is right again.
func (c *clock) tell() {
	difference, known := c.difference()
	c.mu.Lock()
	defer c.mu.Unlock()
	wrong := known && difference.Abs() > maxDifference
	switch {
	case wrong && (c.toldAt == nil || c.passed()-*c.toldAt >= clockReminder):
		c.toldAt = new(c.passed())
		c.log.Error("This node's clock is wrong. Until it is corrected the node is not ready, fires and claims no runs, ends no temporary levels and removes nothing. Synchronize it with NTP.",
			"clock", c.compared(difference), "seconds", int64(difference.Seconds()), "accepted", c.accepted(difference))
	case known && !wrong && c.toldAt != nil:
		c.toldAt = nil
		c.log.Info("This node's clock is right again.")
	}
}
