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

// retryInterval is how often a node that started without its database tries to reach it.
const retryInterval = time.Second

// entrance passes requests to the current API: first to the API of the stand-in, later to
// the API with a database.
type entrance struct{ current atomic.Pointer[http.Handler] }

func (e *entrance) use(handler http.Handler) { e.current.Store(&handler) }

// ServeHTTP passes a request on.
func (e *entrance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*e.current.Load()).ServeHTTP(w, r)
}

// newStandIn returns a node that answers evaluation from the state on disk. It is wired like
// any node, but its database refuses every call. newStandIn returns nil if there is no state
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

// keptRing opens the key ring without comparing it with the database. A wrong ring cannot
// decrypt the state on disk.
func (a *App) keptRing() (*sealed.Ring, error) {
	if a.ring != nil {
		return a.ring, nil
	}
	return sealed.OpenFile(filepath.Join(a.settings.Data, keyringFile))
}

// stopStandIn releases the stand-in. If the node never completed its start, stopStandIn
// stops everything else too and returns true.
func (a *App) stopStandIn(ctx context.Context) (stopped bool, err error) {
	s := a.standIn
	a.standIn = nil // Stop may be called again
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

// release closes the resources of a stand-in.
func (a *App) release() error {
	a.egress.Close()
	if a.openID != nil {
		a.openID.Close()
	}
	return a.db.Close()
}

// finish completes the start when the database is up, and ends the stand-in. Any failure
// other than an outage ends the process, as it does at a normal start.
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
	for a.startLoops(ctx) != nil { // the database went down again
		if !pause(ctx, retryInterval) {
			return
		}
	}
	a.entrance.use(a.api)
	if err := a.announce(ctx); err != nil {
		a.failure <- err
	}
}

// unbuild releases the resources that a failed build has opened.
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

// pause waits, and reports false if ctx has ended.
func pause(ctx context.Context, wait time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(wait):
		return true
	}
}
