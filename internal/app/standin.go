package app

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/sealed"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/telemetry"
)

// retryInterval is how often a node that was started without its database looks for it.
const retryInterval = time.Second

// entrance hands requests to the current API: first to the stand-in's, later to the one
// with a database.
type entrance struct{ current atomic.Pointer[http.Handler] }

func (e *entrance) use(handler http.Handler) { e.current.Store(&handler) }

// ServeHTTP passes a request on.
func (e *entrance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*e.current.Load()).ServeHTTP(w, r)
}

// newStandIn returns a node that answers evaluation from the state on disk. It is wired like
// any node, but its database refuses everything. newStandIn returns nil if there is no state
// on disk, or if the failure was not an outage.
func (a *App) newStandIn(failure error) *App {
	if a.settings.Database == "" || !store.IsUnreachable(failure) {
		return nil
	}
	ring, err := a.keptRing()
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			a.log.Warn("The database cannot be reached, and the key ring of the state that this node kept on disk cannot be read.", "error", err)
		}
		return nil
	}
	kept, err := a.loadLastKnown(ring)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			a.log.Warn("The database cannot be reached, and the state that this node kept on disk cannot be used.", "error", err)
		}
		return nil
	}
	db := store.Unreachable()
	s := &App{settings: a.settings, options: a.options, log: a.log, metrics: telemetry.NewMetrics(version), plans: a.plans, firstPlans: a.firstPlans,
		servers: a.servers, stdout: a.stdout, db: db, clock: newClock(db, a.log, a.options.Now), ring: ring, standsIn: true}
	s.wire()
	s.auth.Remember(kept.Keys)
	for _, each := range kept.Flags {
		s.snapshots.Take(each)
	}
	s.api.UseKept(kept.Snapshots, kept.Confirmed)
	s.wasReady.Store(true) // the node was ready before it was restarted
	a.entrance.use(s.api)
	a.log.Warn("The database cannot be reached. Evaluation is answered from the state that this node kept on disk; everything else is refused until the database is back.",
		"error", failure, "kept_at", kept.SavedAt.Format(time.RFC3339), "snapshots", len(kept.Snapshots), "keys", len(kept.Keys))
	return s
}

// keptRing opens the key ring without checking it against the database. The state on disk
// does not open with a wrong ring.
func (a *App) keptRing() (*sealed.Ring, error) {
	if a.ring != nil {
		return a.ring, nil
	}
	return sealed.OpenFile(filepath.Join(a.settings.Data, keyringFile))
}

// stopStandIn releases the stand-in. If the start was never finished, it stops everything
// else too and reports so.
func (a *App) stopStandIn(ctx context.Context) (stopped bool, err error) {
	s := a.standIn
	a.standIn = nil // Stop may be repeated
	if a.api != nil {
		return false, s.release()
	}
	draining, cancel := context.WithTimeout(ctx, a.settings.ShutdownTimeout)
	defer cancel()
	for _, server := range a.servers {
		err = errors.Join(err, server.stop(draining))
	}
	a.servers = nil
	return true, errors.Join(err, s.release(), a.close(ctx))
}

// release closes what a stand-in holds.
func (a *App) release() error {
	a.egress.Close()
	if a.openID != nil {
		a.openID.Close()
	}
	return a.db.Close()
}

// finish completes the start once the database is up, and ends the stand-in. A failure
// other than the outage ends the process, as it would have at the start.
func (a *App) finish(ctx context.Context) {
	for {
		err := a.build(ctx)
		if err == nil {
			break
		}
		err = errors.Join(err, a.unbuild(ctx))
		if ctx.Err() != nil {
			return
		}
		if !store.IsUnreachable(err) {
			a.failure <- err
			return
		}
		if !pause(ctx, retryInterval) {
			return
		}
	}
	for a.startLoops(ctx) != nil { // the database went away again
		if !pause(ctx, retryInterval) {
			return
		}
	}
	a.entrance.use(a.api)
	if err := a.announce(ctx); err != nil {
		a.failure <- err
	}
}

// unbuild releases what a failed build has opened.
func (a *App) unbuild(ctx context.Context) error {
	var err error
	if a.db != nil {
		err = a.db.Close()
		a.db = nil
	}
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	err = errors.Join(err, a.tracing.Shutdown(ctx))
	a.tracing = nil
	return err
}

// pause waits, and reports whether ctx still lasts.
func pause(ctx context.Context, wait time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(wait):
		return true
	}
}
