package webhooks

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/transaction"
)

const (
	// longestSleep is how late a delivery that another node stored is released.
	longestSleep = time.Second
	// releaseBatch bounds how many deliveries one transaction releases.
	releaseBatch = 500
	// presenceInterval is how often connected services are noted.
	presenceInterval = time.Minute
	// silentAfter is how long a service must be neither connected nor reporting to be silent.
	silentAfter = time.Hour
	// deafAfter is how long the checks of this node may pause before it must have missed reports: it was stopped, its database was
	// away, or its clock was wrong.
	deafAfter = 5 * time.Minute
)

// CourierReadTx has the reads of a Courier.
type CourierReadTx interface {
	Now() time.Time
	// NextDelivery returns when the next waiting delivery is due; nil if none waits.
	NextDelivery(ctx context.Context) (*time.Time, error)
	// QuietAccounts returns accounts with services that were last connected before an instant and are not known as silent.
	QuietAccounts(ctx context.Context, before time.Time) ([]string, error)
	// OverfullWebhooks returns the webhooks with more unfinished deliveries than a limit.
	OverfullWebhooks(ctx context.Context, limit int) ([]Overfull, error)
	// SurplusDeliveries returns up to batch unfinished deliveries of a webhook that are older than its newest limit ones.
	SurplusDeliveries(ctx context.Context, of Overfull, limit, batch int) ([]string, error)
}

// CourierTx has the writes of a Courier.
type CourierTx interface {
	Now() time.Time
	// ReleaseDeliveries makes due deliveries claimable, and returns their number.
	ReleaseDeliveries(ctx context.Context, limit int) (int, error)
	// NotePresence stores which services of accounts with webhooks are connected now.
	NotePresence(ctx context.Context) error
	// TellSilent records the event of each service of an account that was last connected before an instant and has not
	// reported since, and marks the service as silent. It returns their number.
	TellSilent(ctx context.Context, account string, before time.Time) (int, error)
	// EndDeliveries ends unfinished deliveries as failed, with a reason among their attempts. It skips deliveries that are
	// being sent or have ended, and returns the number of the others.
	EndDeliveries(ctx context.Context, ids []string, why string) (int, error)
}

// Courier releases deliveries that are due, bounds how many wait and finds silent services, as the package documentation
// describes.
type Courier struct {
	Store  transaction.Store[CourierReadTx, CourierTx]
	Log    *slog.Logger
	Queued func()           // called when deliveries were released
	Ended  func(int)        // called with the number of deliveries that were ended because too many waited
	Paused background.Pause // true while this node's clock is wrong
	// PresenceInterval is a minute if zero.
	PresenceInterval time.Duration
	MaxUnfinished    int // of a webhook

	loop     background.Loop
	hearing  time.Time         // since when this node has checked services without a long pause
	checked  time.Time         // the last check of services
	overfull map[Overfull]bool // the webhooks that had too many deliveries at the last count
}

// Start starts the loops.
func (c *Courier) Start(ctx context.Context) {
	if c.PresenceInterval == 0 {
		c.PresenceInterval = presenceInterval
	}
	c.loop.Start(ctx, c.releaseDue, c.watchServices, c.boundBacklogs)
}

// Stop ends the loops.
func (c *Courier) Stop() { c.loop.Stop() }

func (c *Courier) releaseDue(ctx context.Context) {
	background.Repeat(ctx, nil, c.release, func(err error) {
		c.Log.Warn("Releasing due deliveries of webhooks failed; retrying.", "error", err)
	})
}

// release makes due deliveries claimable and returns how long to sleep.
func (c *Courier) release(ctx context.Context) (time.Duration, error) {
	if c.Paused.IsOn() {
		return longestSleep, nil
	}
	for {
		due, now, err := c.next(ctx)
		if err != nil || due == nil {
			return longestSleep, err
		}
		if wait := due.Sub(now); wait > 0 {
			return min(wait, longestSleep), nil
		}
		count, err := c.releaseSome(ctx)
		if err != nil || count == 0 { // another node has locked them
			return longestSleep, err
		}
		c.Queued()
	}
}

func (c *Courier) releaseSome(ctx context.Context) (int, error) {
	return transaction.Write(ctx, c.Store, "", func(ctx context.Context, tx CourierTx) (int, error) { return tx.ReleaseDeliveries(ctx, releaseBatch) })
}

// next returns when the next waiting delivery is due, and the time of the transaction.
func (c *Courier) next(ctx context.Context) (due *time.Time, now time.Time, err error) {
	err = c.Store.Read(ctx, func(ctx context.Context, tx CourierReadTx) (err error) {
		due, err = tx.NextDelivery(ctx)
		now = tx.Now()
		return err
	})
	return due, now, err
}

func (c *Courier) watchServices(ctx context.Context) {
	background.Repeat(ctx, nil, func(ctx context.Context) (time.Duration, error) { return c.PresenceInterval, c.CheckServices(ctx) }, func(err error) {
		c.Log.Warn("Checking for silent services failed; retrying.", "error", err)
	})
}

// CheckServices notes the connected services and records the event of each that has become silent.
func (c *Courier) CheckServices(ctx context.Context) error {
	if c.Paused.IsOn() {
		return nil
	}
	var now time.Time
	if err := c.Store.Write(ctx, "", func(ctx context.Context, tx CourierTx) error {
		now = tx.Now()
		return tx.NotePresence(ctx)
	}); err != nil {
		return err
	}
	before := now.Add(-silentAfter)
	if c.hear(now); c.hearing.After(before) {
		return nil
	}
	return c.tellSilent(ctx, before)
}

// hear notes a check. After a long pause, silence counts anew: services could not report to a server that was away.
func (c *Courier) hear(now time.Time) {
	if now.Sub(c.checked) > deafAfter {
		c.hearing = now
	}
	c.checked = now
}

// tellSilent records the events of the services that were last seen before an instant.
func (c *Courier) tellSilent(ctx context.Context, before time.Time) error {
	accounts, err := transaction.Read(ctx, c.Store, func(ctx context.Context, tx CourierReadTx) ([]string, error) { return tx.QuietAccounts(ctx, before) })
	for _, account := range accounts {
		_, failed := transaction.Write(ctx, c.Store, account, func(ctx context.Context, tx CourierTx) (int, error) { return tx.TellSilent(ctx, account, before) })
		err = errors.Join(err, failed) // an account that is locked for long does not hide the others
	}
	return err
}
