package app

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/store"
)

// recountInterval is how often totals are compared with their rows.
const recountInterval = time.Hour

// recount corrects the totals that limits are decided by. They are exact, unless
// nodes of an older version, which do not count, wrote beside this one.
func (a *App) recount(ctx context.Context) {
	corrected, err := a.db.CorrectTotals(ctx)
	if err != nil && ctx.Err() == nil {
		a.log.Warn("Comparing totals with their rows failed; retrying in an hour.", "error", err)
	}
	a.tellCorrected(corrected)
}

func (a *App) tellCorrected(corrected []store.Correction) {
	for _, each := range corrected {
		a.log.Warn("A total was not what its rows add up to and was corrected. This is expected while nodes of an older version run; "+
			"please report it otherwise.", "account", each.Account, "total", each.What, "was", each.Was, "is", each.Is)
	}
}
