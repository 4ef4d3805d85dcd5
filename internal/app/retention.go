package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/store"
)

// retentionInterval is how often what is too old is looked for.
const retentionInterval = 5 * time.Minute

// retention removes runs and history that are older than the operator wants
// to keep. Every node does it; they do not disturb each other.
type retention struct {
	db            *store.DB
	log           *slog.Logger
	runs, changes time.Duration
	now           func() time.Time
	cancel        context.CancelFunc
	running       sync.WaitGroup
}

func (r *retention) start(ctx context.Context) {
	ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r.running.Go(func() { r.run(ctx) })
}

func (r *retention) stop() {
	if r.cancel != nil {
		r.cancel()
	}
	r.running.Wait()
}

func (r *retention) run(ctx context.Context) {
	ticker := time.NewTicker(retentionInterval)
	defer ticker.Stop()
	for {
		r.remove(ctx, "runs", r.db.RemoveRuns, r.runs)
		r.remove(ctx, "changes", r.db.RemoveChanges, r.changes)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (r *retention) remove(ctx context.Context, what string, remove func(context.Context, time.Time) (int, error), keep time.Duration) {
	count, err := remove(ctx, r.now().Add(-keep))
	if err != nil && ctx.Err() == nil {
		r.log.Warn("Removing what is too old was interrupted; it is tried again.", "what", what, "error", err)
	}
	if count > 0 {
		r.log.Info("Removed what is older than the retention.", "what", what, "count", count)
	}
}
