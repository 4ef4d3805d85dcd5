package environments_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a service on a real database that has one account.
type fixture struct {
	*environments.Service
	db    *store.DB
	owner accounts.Caller
}

func newFixture(t *testing.T, database storetest.Database, plan string) *fixture {
	t.Helper()
	db := database.Open(t)
	return &fixture{Service: newService(db), db: db, owner: storetest.NewTenant(t, db, plan).Owner}
}

func newService(db *store.DB) *environments.Service {
	return &environments.Service{Store: storetest.Environments(db), Plans: plans.BuiltIn()}
}

func (h *fixture) get(t *testing.T, key string) environments.Environment {
	t.Helper()
	environment, err := h.Environment(t.Context(), h.owner, key)
	if err != nil {
		t.Fatal(err)
	}
	return environment
}

// discover creates environments as a report does, and returns how many it dropped.
func (h *fixture) discover(t *testing.T, keys ...string) (dropped int) {
	t.Helper()
	if err := h.db.Write(t.Context(), h.owner.Account, func(ctx context.Context, tx *store.Tx) error {
		known, err := tx.ManagedEnvironments(ctx, h.owner.Account)
		if err != nil {
			return err
		}
		var created []string
		created, dropped = environments.Discoverable(known, keys)
		return environments.Discover(ctx, tx, h.owner, created)
	}); err != nil {
		t.Fatal(err)
	}
	return dropped
}

// orders returns the account's order and the orders of its users.
func (h *fixture) orders(t *testing.T) (orders environments.Orders) {
	t.Helper()
	err := h.db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) (err error) {
		orders, err = tx.EnvironmentOrders(ctx, h.owner.Account)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return orders
}

func (h *fixture) version(ctx context.Context, t *testing.T) int64 {
	t.Helper()
	version, err := h.db.Version(ctx, h.owner.Account)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// named returns a draft with a name. change may set more members.
func named(change func(*environments.Draft)) environments.Draft {
	draft := environments.Draft{Name: optional.Of("Name")}
	if change != nil {
		change(&draft)
	}
	return draft
}

// fresh returns the draft of a new environment.
func fresh(key string) environments.Draft {
	return named(func(draft *environments.Draft) { draft.Key = optional.Of(key) })
}

func manage(managed bool) environments.Draft {
	return named(func(draft *environments.Draft) { draft.Managed = optional.Of(managed) })
}

func classify(classification environments.Classification) environments.Draft {
	return named(func(draft *environments.Draft) { draft.Classification = optional.Of(string(classification)) })
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
