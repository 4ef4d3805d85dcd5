package webhooks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/transaction"
)

// MaxUnfinished is how many deliveries of a webhook may wait to be sent, for the first time or again.
const MaxUnfinished = 100_000

const (
	// backlogInterval is how often unfinished deliveries are counted.
	backlogInterval = time.Minute
	// surplusRead bounds how many deliveries are read at once, surplusBatch how many one transaction ends.
	surplusRead, surplusBatch = 10_000, 1000
)

// Overfull is a webhook that has more unfinished deliveries than it may have.
type Overfull struct{ Account, Webhook string }

func (c *Courier) boundBacklogs(ctx context.Context) {
	background.Repeat(ctx, nil, func(ctx context.Context) (time.Duration, error) { return backlogInterval, c.EndSurplus(ctx) }, func(err error) {
		c.Log.Warn("Counting the unfinished deliveries of webhooks failed; retrying.", "error", err)
	})
}

// EndSurplus ends the oldest deliveries of each webhook that has more than MaxUnfinished unfinished ones. Events are stored
// without counting, so a webhook may have more for a minute.
func (c *Courier) EndSurplus(ctx context.Context) error {
	if c.Paused.IsOn() {
		return nil
	}
	found, err := transaction.Read(ctx, c.Store, func(ctx context.Context, tx CourierReadTx) ([]Overfull, error) {
		return tx.OverfullWebhooks(ctx, c.MaxUnfinished)
	})
	if err != nil {
		return err
	}
	known := c.overfull
	c.overfull = map[Overfull]bool{}
	for _, each := range found {
		if c.overfull[each] = true; !known[each] {
			c.Log.Warn("A webhook has too many unfinished deliveries; the oldest are ended as failed from now on. Repair its target or disable the webhook. "+
				"`signalbox webhooks redeliver` sends failed deliveries again.", "account", each.Account, "webhook", each.Webhook, "limit", c.MaxUnfinished)
		}
		if err := c.endSurplus(ctx, each); err != nil {
			return err
		}
	}
	return nil
}

// endSurplus ends deliveries until no more than the limit are unfinished.
func (c *Courier) endSurplus(ctx context.Context, of Overfull) error {
	for size := surplusRead; size == surplusRead; {
		ids, err := transaction.Read(ctx, c.Store, func(ctx context.Context, tx CourierReadTx) ([]string, error) {
			return tx.SurplusDeliveries(ctx, of, c.MaxUnfinished, surplusRead)
		})
		if err != nil {
			return err
		}
		size = len(ids)
		for batch := range slices.Chunk(ids, surplusBatch) {
			if err := c.end(ctx, of.Account, batch); err != nil {
				return err
			}
		}
	}
	return nil
}

// end ends deliveries, except those that another node has ended or claimed meanwhile.
func (c *Courier) end(ctx context.Context, account string, ids []string) error {
	why := fmt.Sprintf("It was not sent, because the webhook had more than %d unfinished deliveries.", c.MaxUnfinished)
	ended, err := transaction.Write(ctx, c.Store, account, func(ctx context.Context, tx CourierTx) (int, error) { return tx.EndDeliveries(ctx, ids, why) })
	if err == nil {
		c.Ended(ended)
	}
	return err
}
