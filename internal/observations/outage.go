package observations

import (
	"context"
	"log/slog"

	"github.com/signalbox/signalbox/internal/background"
)

// outage remembers whether writing fails, so that only the beginning and the end of an outage
// are logged.
type outage struct{ failing bool }

// flushAccounts is how many accounts are written at the same time. So an account whose lock is
// held does not delay the others.
const flushAccounts = 4

// flush writes the pending observations of each account, and logs the beginning and the end of an outage.
func flush[T any](ctx context.Context, pending map[string]T, write func(ctx context.Context, account string, of T) error, o *outage, log *slog.Logger, what string) {
	errs := make(chan error, len(pending)+1)
	background.Each(flushAccounts, pending, func(account string, of T) {
		if err := write(ctx, account, of); err != nil {
			errs <- err
		}
	})
	errs <- nil
	switch failure := <-errs; {
	case failure != nil && !o.failing && ctx.Err() == nil:
		o.failing = true
		log.Warn("Writing observations failed; they are kept in memory and tried again every 5 s.", "what", what, "error", failure)
	case failure == nil && o.failing && len(pending) > 0:
		o.failing = false
		log.Info("Writing observations works again.", "what", what)
	}
}
