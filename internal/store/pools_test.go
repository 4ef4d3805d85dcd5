package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/jobs/scheduler"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// Callers that occupy all connections for requests do not delay the node's own loops.
func TestForLoops_OwnConnections(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		occupied, release := make(chan struct{}), make(chan struct{})
		defer close(release)
		wait := func() error {
			select {
			case occupied <- struct{}{}:
				<-release
			case <-release:
			}
			return nil
		}
		occupy := func(ctx context.Context) error {
			return db.Read(ctx, func(context.Context, *store.ReadTx) error { return wait() })
		}
		if db.Name() == "postgres" { // where a read has a connection for each statement only
			occupy = func(ctx context.Context) error {
				return db.Write(ctx, "", func(context.Context, *store.Tx) error { return wait() })
			}
		}
		for range 40 {
			go func() { _ = occupy(context.WithoutCancel(t.Context())) }() // those that never get one end with the database
		}
		for taken := true; taken; {
			select {
			case <-occupied:
			case <-time.After(300 * time.Millisecond): // nobody else gets one
				taken = false
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), soon) // the callers stay until the end
		defer cancel()
		for name, loop := range map[string]func() error{
			"a beat": func() error {
				return db.Worker().Write(ctx, "", func(ctx context.Context, tx worker.Tx) error { return tx.Beat(ctx, "b", "n") })
			},
			"a worker": func() error {
				return db.Worker().Read(ctx, func(ctx context.Context, tx worker.ReadTx) error { _, err := tx.Nodes(ctx); return err })
			},
			"the schedule": func() error {
				return db.Scheduler().Read(ctx, func(ctx context.Context, tx scheduler.ReadTx) error { _, err := tx.Agenda(ctx); return err })
			},
			"the feed":  func() error { _, err := changes.Source(db.FeedSource()).Heads(ctx); return err },
			"readiness": func() error { return db.Ping(ctx) },
		} {
			t.Run(name, func(t *testing.T) {
				if err := loop(); err != nil {
					t.Error(err)
				}
			})
		}
	})
}
