package configs_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const racers = 32

// fixture is a service on a real database that has one account.
type fixture struct {
	*configs.Service
	database storetest.Database
	db       *store.DB
	owner    accounts.Caller
}

func newFixture(t testing.TB, database storetest.Database, plan string) *fixture {
	t.Helper()
	db := database.Open(t)
	return &fixture{Service: newService(db), database: database, db: db, owner: storetest.NewTenant(t, db, plan).Owner}
}

func newService(db *store.DB) *configs.Service {
	return &configs.Service{Store: db.Configs(), Plans: plans.BuiltIn(), Writable: environments.Writable}
}

// race starts all racers at once, spread over all nodes, and returns the error of each.
func (h *fixture) race(t *testing.T, racers int, run func(node *configs.Service, racer int) error) []error {
	t.Helper()
	return storetest.Race(storetest.Nodes(t, h.database, h.Service, newService), racers, run)
}

func (h *fixture) create(t testing.TB, draft configs.Draft) configs.Config {
	t.Helper()
	config, err := h.Create(t.Context(), h.owner, draft)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func (h *fixture) replace(t testing.TB, draft configs.Draft) configs.Config {
	t.Helper()
	config, err := h.Replace(t.Context(), h.owner, draft.Key.Or(""), draft, nil)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func (h *fixture) get(t testing.TB, key string) configs.Config {
	t.Helper()
	config, err := h.Config(t.Context(), h.owner, key)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// count reads without the service, which would create the common config.
func (h *fixture) count(t testing.TB) (count int) {
	t.Helper()
	err := h.db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) (err error) {
		count, err = tx.CountConfigs(ctx, h.owner.Account)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return count
}

func (h *fixture) write(t testing.TB, fn func(ctx context.Context, tx *store.Tx) error) {
	t.Helper()
	if err := h.db.Write(t.Context(), h.owner.Account, func(ctx context.Context, tx *store.Tx) error { return fn(ctx, tx) }); err != nil {
		t.Fatal(err)
	}
}

// history returns the changes of configs, oldest first.
func (h *fixture) history(t testing.TB) []changes.Change {
	t.Helper()
	return storetest.History(t, h.db, h.owner.Account, configs.Kind)
}

// draft returns a config with a parent, or with none if parent is "". The types of its items
// follow from their values.
func draft(key, parent string, values map[string]string) configs.Draft {
	made := configs.Draft{Key: optional.Of(key), Parent: optional.Of(parent), Items: map[string]configs.ItemDraft{},
		Environments: map[string]configs.Overrides{}}
	if parent == "" {
		made.Parent = optional.Null[string]()
	}
	for name, value := range values {
		made.Items[name] = configs.ItemDraft{Value: json.RawMessage(value)}
	}
	return made
}

// in adds overrides of an environment to a draft.
func in(made configs.Draft, environment string, values map[string]string) configs.Draft {
	overrides := configs.Overrides{}
	for name, value := range values {
		overrides[name] = json.RawMessage(value)
	}
	made.Environments[environment] = overrides
	return made
}

// fitting adds a schema to an item of a draft.
func fitting(made configs.Draft, item, schema string) configs.Draft {
	changed := made.Items[item]
	changed.Schema = optional.Of(json.RawMessage(schema))
	made.Items[item] = changed
	return made
}

type values = map[string]string

func same[T any](t testing.TB, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}
