package observations_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a service on a real database that has one account.
type fixture struct {
	*observations.Service
	db    *store.DB
	owner accounts.Caller
}

func newFixture(t *testing.T, database storetest.Database, change ...func(*store.Options)) *fixture {
	t.Helper()
	db := database.Open(t, change...)
	return &fixture{Service: newService(db), db: db, owner: storetest.NewTenant(t, db, "free").Owner}
}

func newService(db *store.DB) *observations.Service {
	transactions := store.NewTransactions(db, func(tx *store.ReadTx) observations.ReadTx { return tx }, func(tx *store.Tx) observations.Tx { return writes{tx} })
	return &observations.Service{Discoverable: environments.Discoverable, Measured: func(string, observations.Metric) {},
		Store: transactions, Reports: transactions.ForObservations()}
}

// writes is a transaction that creates environments as the app does.
type writes struct{ *store.Tx }

func (tx writes) CreateEnvironments(ctx context.Context, caller accounts.Caller, keys []string) error {
	return environments.Discover(ctx, tx, caller, keys)
}

func (h *fixture) environment(t *testing.T, key string) (found environments.Environment) {
	t.Helper()
	if err := h.db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) (err error) {
		found, err = tx.Environment(ctx, h.owner.Account, key)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

// report reports contexts.
func (h *fixture) report(t *testing.T, items ...observations.ReportedContext) observations.Outcome {
	t.Helper()
	outcome, err := h.Report(t.Context(), h.owner, items)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func reported(typeKey, key string) observations.ReportedContext {
	return observations.ReportedContext{Type: typeKey, Key: key}
}

func described(typeKey, key, attributes string) observations.ReportedContext {
	return observations.ReportedContext{Type: typeKey, Key: key, Attributes: json.RawMessage(attributes)}
}

func (h *fixture) version(ctx context.Context, t *testing.T) int64 {
	t.Helper()
	version, err := h.db.Version(ctx, h.owner.Account)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func same[T any](t *testing.T, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

// refusal is the code of an error and the place in the input that it names.
type refusal struct {
	Code fault.Code
	At   fault.Source
}

func refusals(err error) []refusal {
	var found []refusal
	for _, each := range fault.All(err) {
		found = append(found, refusal{each.Code, each.Source})
	}
	return found
}

func invalid(attribute string) []refusal {
	return []refusal{{fault.Validation, fault.Attribute(attribute)}}
}
