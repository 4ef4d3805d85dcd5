package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/sealed"
	"github.com/signalbox/signalbox/internal/store"
)

// resealInterval is how soon a rotation of the key ring is noticed.
const resealInterval = 10 * time.Second

// resealer notices that the key ring has a new primary key, as signalbox
// keyring rotate gives it, and seals everything again with it.
type resealer struct {
	db      *store.DB
	ring    *sealed.Ring
	log     *slog.Logger
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func (r *resealer) start(ctx context.Context) {
	ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r.running.Go(func() { r.run(ctx) })
}

func (r *resealer) stop() {
	if r.cancel != nil {
		r.cancel()
	}
	r.running.Wait()
}

// run re-seals at the start, because a rotation may have happened while
// nothing ran or a re-sealing may have been interrupted, and after rotations.
func (r *resealer) run(ctx context.Context) {
	ticker := time.NewTicker(resealInterval)
	defer ticker.Stop()
	done := ""
	for {
		if err := r.ring.Reload(); err != nil {
			r.log.Warn("The key ring cannot be read again; the keys in memory stay in use.", "error", err)
		}
		if primary := r.ring.Primary(); primary != done && r.reseal(ctx) {
			done = primary
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (r *resealer) reseal(ctx context.Context) bool {
	count, err := r.db.Reseal(ctx, r.ring)
	if err != nil && ctx.Err() == nil {
		r.log.Warn("Re-sealing with the new key was interrupted; it is tried again.", "error", err)
	}
	if count > 0 {
		r.log.Info("Sealed values again with the primary key.", "values", count, "key", r.ring.Primary())
	}
	return err == nil
}
