package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/store"
)

const (
	// retentionInterval is how often old rows are removed.
	retentionInterval = 5 * time.Minute
	// metricsSpare is how much longer metrics are kept than promised, so that who asks for all gets all.
	metricsSpare = time.Hour
)

// retention removes runs, changes and metrics that are older than the operator
// wants to keep, what is left of deleted loggers, and links and sessions that have
// expired. Every node does it; several may do it at once.
type retention struct {
	db            *store.DB
	log           *slog.Logger
	runs, changes time.Duration
	now           func() time.Time
}

func (r *retention) removeOld(ctx context.Context) {
	r.remove(ctx, "runs", r.db.RemoveRuns, r.runs)
	r.remove(ctx, "changes", r.db.RemoveChanges, r.changes)
	for _, by := range observations.Resolutions() {
		r.tell(ctx, "metrics", func() (int, error) { return r.db.RemoveMetrics(ctx, by, r.now().Add(-by.Kept()-metricsSpare)) })
	}
	r.tell(ctx, "deleted loggers", func() (int, error) { return r.db.ForgetLoggers(ctx, logging.MaxRemembered) })
	r.remove(ctx, "links", r.db.RemoveLinks, 0)
	r.remove(ctx, "sessions", r.db.RemoveSessions, 0)
}

func (r *retention) remove(ctx context.Context, what string, remove func(context.Context, time.Time) (int, error), keep time.Duration) {
	r.tell(ctx, what, func() (int, error) { return remove(ctx, r.now().Add(-keep)) })
}

// tell removes something and logs how it went.
func (r *retention) tell(ctx context.Context, what string, remove func() (int, error)) {
	count, err := remove()
	if err != nil && ctx.Err() == nil {
		r.log.Warn("Removing rows past their retention failed; retrying.", "what", what, "error", err)
	}
	if count > 0 {
		r.log.Info("Removed rows past their retention.", "what", what, "count", count)
	}
}
