package flags_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/flags"
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
	few    = 8 // for races in which everybody counts thousands of rows
)

// fixture is a service on a real database with one account.
type fixture struct {
	*flags.Service
	database storetest.Database
	db       *store.DB
	owner    accounts.Caller
}

func newFixture(t *testing.T, database storetest.Database, plan string) *fixture {
	t.Helper()
	db := database.Open(t)
	return &fixture{Service: newService(db), database: database, db: db, owner: storetest.NewTenant(t, db, plan).Owner}
}

func newService(db *store.DB) *flags.Service {
	return &flags.Service{Store: db.Flags(), Reports: db.Flags().ForObservations(), Plans: plans.BuiltIn(), Writable: environments.Writable,
		Refreshes: &observations.Refreshes{Store: db.Refreshes(), Log: slog.New(slog.DiscardHandler)}}
}

// race starts racers at once on all nodes and returns the result of each.
func (h *fixture) race(t *testing.T, racers int, run func(node *flags.Service, racer int) error) []error {
	t.Helper()
	return storetest.Race(storetest.Nodes(t, h.database, h.Service, newService), racers, run)
}

func (h *fixture) create(t *testing.T, draft flags.Draft) flags.Flag {
	t.Helper()
	flag, err := h.Create(t.Context(), h.owner, draft)
	if err != nil {
		t.Fatal(err)
	}
	return flag
}

func (h *fixture) replace(t *testing.T, key string, draft flags.Draft) flags.Flag {
	t.Helper()
	flag, err := h.Replace(t.Context(), h.owner, key, draft, nil)
	if err != nil {
		t.Fatal(err)
	}
	return flag
}

func (h *fixture) report(t *testing.T, declarations ...flags.Declaration) observations.Outcome {
	t.Helper()
	outcome, err := h.Report(t.Context(), h.owner, declarations)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func (h *fixture) get(t *testing.T, key string) flags.Flag {
	t.Helper()
	flag, err := h.Flag(t.Context(), h.owner, key)
	if err != nil {
		t.Fatal(err)
	}
	return flag
}

// sources returns all sources by their flag, service and environment.
func (h *fixture) sources(t *testing.T) map[observations.SourceKey]flags.Source {
	t.Helper()
	list, err := h.Sources(t.Context(), h.owner, flags.SourceFilter{}, page.First())
	if err != nil {
		t.Fatal(err)
	}
	found := map[observations.SourceKey]flags.Source{}
	for _, source := range list.Items {
		found[source.SourceKey()] = source
	}
	return found
}

func (h *fixture) count(t *testing.T) (count int) {
	t.Helper()
	h.read(t, func(ctx context.Context, tx *store.ReadTx) (err error) {
		count, err = tx.CountFlags(ctx, h.owner.Account)
		return err
	})
	return count
}

func (h *fixture) read(t *testing.T, fn func(ctx context.Context, tx *store.ReadTx) error) {
	t.Helper()
	if err := h.db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) error { return fn(ctx, tx) }); err != nil {
		t.Fatal(err)
	}
}

func (h *fixture) write(t *testing.T, fn func(ctx context.Context, tx *store.Tx) error) {
	t.Helper()
	if err := h.db.Write(t.Context(), h.owner.Account, func(ctx context.Context, tx *store.Tx) error { return fn(ctx, tx) }); err != nil {
		t.Fatal(err)
	}
}

// history returns the changes of flags, oldest first.
func (h *fixture) history(t *testing.T) []changes.Change {
	t.Helper()
	return storetest.History(t, h.db, h.owner.Account, flags.Kind)
}

// numeric returns the draft of a NUMERIC flag with a default.
func numeric(key, base string) flags.Draft {
	return flags.Draft{Key: optional.Of(key), Type: optional.Of("NUMERIC"), Default: optional.Of(json.RawMessage(base))}
}

// ruled returns a draft with some rules in production.
func ruled(key string, rules int) flags.Draft {
	draft := numeric(key, "0")
	environment := flags.Environment{Enabled: true, Rules: []flags.Rule{}}
	for range rules {
		environment.Rules = append(environment.Rules, flags.Rule{Logic: json.RawMessage(`{}`), Value: json.RawMessage(`1`)})
	}
	draft.Environments = map[string]flags.Environment{"production": environment}
	return draft
}

func declared(key, kind, base, service, environment string) flags.Declaration {
	return flags.Declaration{Key: key, Type: kind, Default: json.RawMessage(base), Service: service, Environment: environment}
}

func same[T any](t *testing.T, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}
