package app

import (
	"context"
	"log/slog"

	"github.com/signalbox/signalbox/internal/sealed"
	"github.com/signalbox/signalbox/internal/store"
)

// resealer re-encrypts stored secrets when the key ring has a new primary key, as
// after `signalbox admin keyring rotate`.
type resealer struct {
	db   *store.DB
	ring *sealed.Ring
	log  *slog.Logger
	done string // all values are sealed with this primary key
}

// check re-encrypts after every rotation. It also does so after the start, because a
// rotation may have been interrupted or may have happened while no node ran.
func (r *resealer) check(ctx context.Context) {
	if err := r.ring.Reload(); err != nil {
		r.log.Warn("Reading the key ring again failed; the keys in memory stay in use.", "error", err)
	}
	if primary := r.ring.Primary(); primary != r.done && r.reseal(ctx) {
		r.done = primary
	}
}

func (r *resealer) reseal(ctx context.Context) bool {
	done, err := r.db.Reseal(ctx, r.ring)
	if err != nil && ctx.Err() == nil {
		r.log.Warn("Re-encrypting stored secrets failed; retrying.", "error", err)
	}
	if done.Values > 0 {
		r.log.Info("Re-encrypted stored secrets with the primary key.", "values", done.Values, "key", r.ring.Primary())
	}
	if err == nil && done.Unopened > 0 { // once per primary key, because these values stay as they are
		r.log.Warn("Some stored secrets cannot be decrypted with any key of the ring; they stay as they are. Restore the missing key.", "values", done.Unopened, "first", done.First.String())
	}
	return err == nil
}
