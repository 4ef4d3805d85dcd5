package app

import (
	"context"
	"errors"
	"time"
)

const (
	// historyInterval is how often all histories are measured, and trimmed if writes have not done so.
	historyInterval = time.Minute
	// historyRecountInterval is how often the counted bytes of histories are compared with their rows.
	historyRecountInterval = 24 * time.Hour
)

// boundHistory trims histories above SIGNALBOX_HISTORY_BYTES, for example after the setting was lowered; otherwise
// writes have trimmed them already. It also measures all histories and logs how many changes were trimmed.
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
		a.log.Info("Removed the before and after documents of the oldest changes, because the history of an account was above SIGNALBOX_HISTORY_BYTES. Raise it to keep more.", "count", trimmed)
	}
}

// recountHistory corrects the counted bytes of histories, as recount corrects totals.
func (a *App) recountHistory(ctx context.Context) {
	corrected, err := a.db.CorrectHistoryBytes(ctx)
	if err != nil && ctx.Err() == nil {
		a.log.Warn("Comparing the size of histories with their rows failed; retrying in a day.", "error", err)
	}
	a.tellCorrected(corrected)
}
