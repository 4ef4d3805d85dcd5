package app

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/store"
)

// recountInterval is how often the stored totals are compared with their rows.
const recountInterval = time.Hour

// recount corrects the totals that limits are checked against. A total is wrong
// only if nodes of an older version, which do not update it, run beside this node.
func (a *App) recount(ctx context.Context) {
	corrected, err := a.db.CorrectTotals(ctx)
	if err != nil && ctx.Err() == nil {
		a.log.Warn("Comparing totals with their rows failed; retrying in an hour.", "error", err)
	}
	a.tellCorrected(corrected)
}

func (a *App) tellCorrected(corrected []store.Correction) {
	for _, each := range corrected {
		a.log.Warn("A total differed from the sum of its rows and was corrected. This is expected while nodes of an older version run; "+
			"please report it otherwise.", "account", each.Account, "total", each.What, "was", each.Was, "is", each.Is)
	}
}
