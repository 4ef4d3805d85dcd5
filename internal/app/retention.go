package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/store"
)

// retentionInterval is how often what is too old is looked for.
const retentionInterval = 5 * time.Minute

// retention removes runs and history that are older than the operator wants
// to keep, and metrics of past weeks. Every node does it; they do not disturb each other.
type retention struct {
	db            *store.DB
	log           *slog.Logger
	runs, changes time.Duration
	now           func() time.Time
	loop          background.Loop
}

// Start removes what is too old now and goes on.
func (r *retention) Start(ctx context.Context) {
	r.loop.Start(ctx, func(ctx context.Context) {
		r.look(ctx)
		background.Every(ctx, retentionInterval, r.look)
	})
}

// Stop interrupts it.
func (r *retention) Stop() { r.loop.Stop() }

func (r *retention) look(ctx context.Context) {
	r.remove(ctx, "runs", r.db.RemoveRuns, r.runs)
	r.remove(ctx, "changes", r.db.RemoveChanges, r.changes)
	r.remove(ctx, "metrics", r.db.RemoveMetrics, observations.MetricsKept)
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
