package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/transaction"
)

const (
	// expiryInterval is how often an Expirer looks for runs.
	expiryInterval = time.Minute
	// expiryBatch is how many runs, or accounts, one transaction handles.
	expiryBatch = 500
)

// Expirer cancels runs that have been pending for too long, because after a day nobody expects the
// request any more. Every node has an Expirer. The database lets only one of them cancel a run, and
// only if no worker has claimed the run.
type Expirer struct {
	Store Store
	Log   *slog.Logger
	// Limit is how long a run may be pending.
	Limit time.Duration
	// Canceled is called with the number of canceled runs.
	Canceled func(runs int)
	// Paused reports whether nothing may expire because this node's clock is wrong. Nil never pauses.
	Paused background.Pause

	loop background.Loop
}

// Start begins to cancel runs.
func (e *Expirer) Start(ctx context.Context) {
	e.loop.Start(ctx, func(ctx context.Context) {
		background.Repeat(ctx, nil, func(ctx context.Context) (time.Duration, error) { return expiryInterval, e.Expire(ctx) }, func(err error) {
			e.Log.Warn("Canceling runs that have been pending for too long failed; retrying every minute.", "error", err)
		})
	})
}

// Stop ends the expirer and waits for it.
func (e *Expirer) Stop() { e.loop.Stop() }

// Expire cancels all runs that have been pending for too long, in small
// transactions, account by account.
func (e *Expirer) Expire(ctx context.Context) error {
	for after := ""; ; {
		accounts, err := transaction.Read(ctx, e.Store, func(ctx context.Context, tx ReadTx) ([]string, error) {
			return tx.PendingAccounts(ctx, after, expiryBatch)
		})
		if err != nil || len(accounts) == 0 {
			return err
		}
		for _, account := range accounts {
			if err := e.expire(ctx, account); err != nil {
				return err
			}
		}
		after = accounts[len(accounts)-1]
	}
}

func (e *Expirer) expire(ctx context.Context, account string) error {
	detail := fmt.Sprintf("The run was pending for longer than %s, so it was canceled and nothing was sent.", spelled(e.Limit))
	expired := 0
	for {
		count, err := transaction.Write(ctx, e.Store, "", func(ctx context.Context, tx Tx) (int, error) {
			now := tx.Now()
			if e.Paused.IsOn() { // called after the clock was read
				return 0, nil
			}
			return tx.ExpireRuns(ctx, account, now.Add(-e.Limit), detail, expiryBatch)
		})
		if expired += count; err == nil && count == expiryBatch {
			continue
		}
		if expired > 0 {
			e.Canceled(expired)
			e.Log.Warn("Canceled runs that were pending for longer than SIGNALBOX_PENDING_LIMIT. Look for hosts that do not answer, or raise SIGNALBOX_RUNS_IN_FLIGHT.",
				"account", account, "runs", expired, "limit", spelled(e.Limit))
		}
		return err
	}
}

// spelled writes a duration without trailing zero parts: 24h, not 24h0m0s.
func spelled(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if shorter, ends := strings.CutSuffix(text, zero); ends {
			text = shorter + zero[:1]
		}
	}
	return text
}
