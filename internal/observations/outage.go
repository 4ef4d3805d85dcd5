package observations

import (
	"context"
	"log/slog"

	"github.com/signalbox/signalbox/internal/background"
)

// outage tells once when writing begins to fail, and once when it works again.
type outage struct{ failing bool }

// flushAccounts is how many accounts are written at the same time, so that one
// whose lock is taken does not keep the others waiting.
const flushAccounts = 4

// flush writes what each account has pending, and tells of an outage of what it writes.
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
		log.Warn("Writing what was observed failed; it is kept in memory and tried again every 5 s.", "what", what, "error", failure)
	case failure == nil && o.failing && len(pending) > 0:
		o.failing = false
		log.Info("Writing what was observed works again.", "what", what)
	}
}
