package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/store"
)

// recountInterval is how often totals are compared with their rows.
const recountInterval = time.Hour

// recounter corrects the totals that limits are decided by. They are exact, unless
// nodes of an older version, which do not count, wrote beside this one.
type recounter struct {
	db   *store.DB
	log  *slog.Logger
	loop background.Loop
}

// Start recounts now, and again every interval.
func (r *recounter) Start(ctx context.Context) {
	r.loop.Start(ctx, func(ctx context.Context) {
		r.recount(ctx)
		background.Every(ctx, recountInterval, r.recount)
	})
}

// Stop interrupts the work and waits for its end.
func (r *recounter) Stop() { r.loop.Stop() }

func (r *recounter) recount(ctx context.Context) {
	corrected, err := r.db.CorrectTotals(ctx)
	if err != nil && ctx.Err() == nil {
		r.log.Warn("Comparing totals with their rows failed; retrying in an hour.", "error", err)
	}
	for _, each := range corrected {
		r.log.Warn("A total was not what its rows add up to and was corrected. This is expected while nodes of an older version run; "+
			"please report it otherwise.", "account", each.Account, "total", each.What, "was", each.Was, "is", each.Is)
	}
}
