package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/sealed"
	"github.com/signalbox/signalbox/internal/store"
)

// resealer notices that the key ring has a new primary key, as signalbox
// keyring rotate gives it, and seals everything again with it.
type resealer struct {
	db    *store.DB
	ring  *sealed.Ring
	log   *slog.Logger
	every time.Duration
	done  string // the primary key that everything is sealed with
	loop  background.Loop
}

// Start re-seals now, because a rotation may have happened while nothing ran or
// a re-sealing may have been interrupted, and after rotations.
func (r *resealer) Start(ctx context.Context) {
	r.loop.Start(ctx, func(ctx context.Context) {
		r.look(ctx)
		background.Every(ctx, r.every, r.look)
	})
}

// Stop interrupts it.
func (r *resealer) Stop() { r.loop.Stop() }

func (r *resealer) look(ctx context.Context) {
	if err := r.ring.Reload(); err != nil {
		r.log.Warn("The key ring cannot be read again; the keys in memory stay in use.", "error", err)
	}
	if primary := r.ring.Primary(); primary != r.done && r.reseal(ctx) {
		r.done = primary
	}
}

func (r *resealer) reseal(ctx context.Context) bool {
	done, err := r.db.Reseal(ctx, r.ring)
	if err != nil && ctx.Err() == nil {
		r.log.Warn("Re-sealing with the new key was interrupted; it is tried again.", "error", err)
	}
	if done.Values > 0 {
		r.log.Info("Sealed values again with the primary key.", "values", done.Values, "key", r.ring.Primary())
	}
	if err == nil && done.Unopened > 0 { // that is how they stay, so it is told once
		r.log.Warn("Sealed values that no key of the ring opens stay as they are.", "values", done.Unopened, "first", done.First.String())
	}
	return err == nil
}
