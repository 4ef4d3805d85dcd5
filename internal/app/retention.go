package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/once"
	"github.com/signalbox/signalbox/internal/store"
)

const (
	// retentionInterval is how often old rows are removed.
	retentionInterval = 5 * time.Minute
	// metricsSpare is how much longer than promised metrics are kept, so that a query for the whole period is complete.
	metricsSpare = time.Hour
	// paceReminder is how often the log says that the removal is slowed down.
	paceReminder = 24 * time.Hour
)

// retention removes rows that are older than the operator wants to keep: runs, deliveries of webhooks, changes, metrics, remains of deleted
// loggers, expired links and expired sessions. Every node runs it, perhaps at the same time. It uses the database's clock.
// If it did not run for days, it removes rows at the slow pace of store.Pace.
type retention struct {
	db            *store.DB
	log           *slog.Logger
	runs, changes time.Duration
	now           func() time.Time // the database's time
	paused        func() bool      // true while this node's clock is wrong
	toldPace      time.Time
}

func (r *retention) removeOld(ctx context.Context) {
	if r.paused() {
		return
	}
	now := r.now()
	pace, err := r.db.BeginRetention(ctx, now)
	if err != nil {
		if ctx.Err() == nil {
			r.log.Warn("Beginning to remove rows past their retention failed; retrying.", "error", err)
		}
		return
	}
	remove := func(what string, keep time.Duration, remove func(context.Context, time.Time, *store.Pace) (int, error)) {
		r.tell(ctx, what, func() (int, error) { return remove(ctx, now.Add(-keep), pace) })
	}
	remove("runs", r.runs, r.db.RemoveRuns)
	remove("deliveries of webhooks", r.runs, r.db.RemoveDeliveries)
	remove("changes", r.changes, r.db.RemoveChanges)
	for _, by := range observations.Resolutions() {
		remove("metrics", by.Kept()+metricsSpare, func(ctx context.Context, before time.Time, pace *store.Pace) (int, error) {
			return r.db.RemoveMetrics(ctx, by, before, pace)
		})
	}
	r.tell(ctx, "deleted loggers", func() (int, error) { return r.db.ForgetLoggers(ctx, logging.MaxRemembered) })
	remove("links", 0, r.db.RemoveLinks)
	remove("sessions", 0, r.db.RemoveSessions)
	remove("answers to requests", once.Keep, r.db.RemoveRequests)
	r.tellPace(pace, now)
}

// tell runs remove and logs the result.
func (r *retention) tell(ctx context.Context, what string, remove func() (int, error)) {
	count, err := remove()
	if err != nil && ctx.Err() == nil {
		r.log.Warn("Removing rows past their retention failed; retrying.", "what", what, "error", err)
	}
	if count > 0 {
		r.log.Info("Removed rows past their retention.", "what", what, "count", count)
	}
}

// tellPace logs once a day that the removal of old rows is slowed down.
func (r *retention) tellPace(pace *store.Pace, now time.Time) {
	if pace == nil || !pace.Limited || now.Sub(r.toldPace).Abs() < paceReminder {
		return
	}
	r.toldPace = now
	r.log.Warn("Many rows are past their retention, and none were removed for days. They are removed slowly until the given time, in case a clock is wrong: check that the date is right.",
		"until", pace.Until, "now", now)
}
