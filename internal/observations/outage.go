package observations

import (
	"context"
	"log/slog"
)

// outage tells once when writing begins to fail, and once when it works again.
type outage struct{ failing bool }

func (o *outage) tell(ctx context.Context, log *slog.Logger, what string, wrote bool, failure error) {
	switch {
	case failure != nil && !o.failing && ctx.Err() == nil:
		o.failing = true
		log.Warn("Writing what was observed failed; it is kept in memory and tried again every 5 s.", "what", what, "error", failure)
	case failure == nil && o.failing && wrote:
		o.failing = false
		log.Info("Writing what was observed works again.", "what", what)
	}
}
