package logging_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	racers = 32
	few    = 8 // for races in which every racer counts thousands of rows
)

// soon is how long an immediate event may take on a busy machine.
const soon = 30 * time.Second

// fixture is a service on a real database that has one account.
type fixture struct {
	*logging.Service
	database storetest.Database
	db       *store.DB
	owner    accounts.Caller
}

func newFixture(t *testing.T, database storetest.Database, plan string, change ...func(*store.Options)) *fixture {
	t.Helper()
	db := database.Open(t, change...)
	return &fixture{Service: newService(db), database: database, db: db, owner: storetest.NewTenant(t, db, plan).Owner}
}

func newService(db *store.DB) *logging.Service {
	return &logging.Service{Store: db.Logging(), Reports: db.Logging().ForObservations(), Plans: plans.BuiltIn(), Writable: environments.Writable,
		Refreshes: &observations.Refreshes{Store: db.Refreshes(), Log: slog.New(slog.DiscardHandler)}}
}

// race starts all racers at once, spread over all nodes, and returns the error of each.
func (h *fixture) race(t *testing.T, racers int, run func(node *logging.Service, racer int) error) []error {
	t.Helper()
	return storetest.Race(storetest.Nodes(t, h.database, h.Service, newService), racers, run)
}

func (h *fixture) replace(t *testing.T, key string, draft logging.Draft) logging.View {
	t.Helper()
	view, err := h.Replace(t.Context(), h.owner, key, draft, nil)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

func (h *fixture) report(t *testing.T, reported ...logging.Observation) observations.Outcome {
	t.Helper()
	outcome, err := h.Report(t.Context(), h.owner, reported)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func (h *fixture) get(t *testing.T, key string) logging.View {
	t.Helper()
	view, err := h.Logger(t.Context(), h.owner, key)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// all returns every logger.
func (h *fixture) all(t *testing.T) []logging.View {
	t.Helper()
	list, err := h.Loggers(t.Context(), h.owner, logging.Filter{}, page.First())
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func (h *fixture) sources(t *testing.T, filter logging.SourceFilter) []logging.Source {
	t.Helper()
	list, err := h.Sources(t.Context(), h.owner, filter, page.First())
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func (h *fixture) count(t *testing.T, count func(ctx context.Context, tx *store.ReadTx) (int, error)) (found int) {
	t.Helper()
	if err := h.db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) (err error) {
		found, err = count(ctx, tx)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

func (h *fixture) managed(t *testing.T) int {
	t.Helper()
	return h.count(t, func(ctx context.Context, tx *store.ReadTx) (int, error) {
		return tx.CountManagedLoggers(ctx, h.owner.Account)
	})
}

func (h *fixture) write(t *testing.T, fn func(ctx context.Context, tx *store.Tx) error) {
	t.Helper()
	if err := h.db.Write(t.Context(), h.owner.Account, func(ctx context.Context, tx *store.Tx) error { return fn(ctx, tx) }); err != nil {
		t.Fatal(err)
	}
}

// history returns the changes of a kind, oldest first.
func (h *fixture) history(t *testing.T, kind string) []changes.Change {
	t.Helper()
	return storetest.History(t, h.db, h.owner.Account, kind)
}

func level(name string) logging.Draft {
	return logging.Draft{LevelsDraft: logging.LevelsDraft{Base: logging.OverrideDraft{Level: optional.Of(name)}}}
}

func released() logging.Draft { return logging.Draft{Managed: optional.Of(false)} }

func seen(name, level, service string) logging.Observation {
	return logging.Observation{Name: name, Level: level, Service: service, Environment: "e"}
}

func same[T any](t *testing.T, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}
