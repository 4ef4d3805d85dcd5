package app

import (
	"context"
	"errors"
	"time"
)

const (
	// historyInterval is how often histories that are too large although nobody writes are trimmed, and all are measured.
	historyInterval = time.Minute
	// historyRecountInterval is how often what is counted of histories is compared with their rows.
	historyRecountInterval = 24 * time.Hour
)

// boundHistory removes what accounts' histories hold above SIGNALBOX_HISTORY_BYTES, as after it was lowered. Writes remove
// as much as they add, so there is nothing to do otherwise. It measures the histories and logs what was removed.
func (a *App) boundHistory(ctx context.Context) {
	_, err := a.db.TrimHistory(ctx)
	total, largest, failed := a.db.HistorySizes(ctx)
	if failed == nil {
		a.metrics.SetHistoryBytes(total, largest)
	}
	if err := errors.Join(err, failed); err != nil && ctx.Err() == nil {
		a.log.Warn("Bounding the histories of accounts failed; retrying.", "error", err)
	}
	if trimmed := a.trimmed.Swap(0); trimmed > 0 {
		a.log.Info("Removed before and after of the oldest changes, because the history of an account was above SIGNALBOX_HISTORY_BYTES. Raise it to keep more.", "count", trimmed)
	}
}

// recountHistory corrects what is counted of histories, as recount does for totals.
func (a *App) recountHistory(ctx context.Context) {
	corrected, err := a.db.CorrectHistoryBytes(ctx)
	if err != nil && ctx.Err() == nil {
		a.log.Warn("Comparing the size of histories with their rows failed; retrying in a day.", "error", err)
	}
	a.tellCorrected(corrected)
}
