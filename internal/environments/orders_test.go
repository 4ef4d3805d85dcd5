package environments_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// user adds a user with their own order to the account.
func (h *fixture) user(t *testing.T, id string, order []string) accounts.Caller {
	t.Helper()
	if err := h.db.Write(t.Context(), h.owner.Account, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.InsertUser(ctx, accounts.User{ID: id, Account: h.owner.Account, Email: id, Role: accounts.Member}); err != nil {
			return err
		}
		if order == nil {
			return nil
		}
		return tx.SetUserOrder(ctx, h.owner.Account, id, order)
	}); err != nil {
		t.Fatal(err)
	}
	return accounts.Caller{Account: h.owner.Account, UserID: id, Role: accounts.Member}
}

func TestOrders_FollowClassification(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		h.user(t, "own"+h.owner.Account, []string{"production"})
		h.user(t, "has"+h.owner.Account, []string{"found", "production"})
		h.user(t, "follows"+h.owner.Account, nil)
		expect := func(account, own, has []string) {
			t.Helper()
			same(t, h.orders(t), environments.Orders{Account: account, Users: map[string][]string{"own" + h.owner.Account: own, "has" + h.owner.Account: has}})
		}
		replace := func(classification environments.Classification) {
			t.Helper()
			if _, err := h.Replace(t.Context(), h.owner, "found", classify(classification), nil); err != nil {
				t.Fatal(err)
			}
		}
		h.discover(t, "found")
		expect([]string{"staging", "production"}, []string{"production"}, []string{"found", "production"})
		replace(environments.Standard)
		expect([]string{"staging", "production", "found"}, []string{"production", "found"}, []string{"found", "production"})
		replace(environments.Standard) // a repetition changes nothing
		replace(environments.AdHoc)    // users who added it keep it
		expect([]string{"staging", "production"}, []string{"production", "found"}, []string{"found", "production"})
		if err := h.Delete(t.Context(), h.owner, "found", false, nil); err != nil {
			t.Fatal(err)
		}
		expect([]string{"staging", "production"}, []string{"production"}, []string{"production"})
		same(t, managed(t, h), 1) // the classification does not affect the quota
	})
}

// model computes the expected orders after any sequence of operations.
type model struct {
	environments map[string]environments.Classification
	account      []string
	users        map[string][]string // only users with their own order
}

func (m *model) add(order []string, key string) []string {
	if slices.Contains(order, key) {
		return order
	}
	return append(slices.Clone(order), key)
}

func (m *model) remove(order []string, key string) []string {
	return slices.DeleteFunc(slices.Clone(order), func(each string) bool { return each == key })
}

// known drops repeated and missing environments from an order.
func (m *model) known(order []string) []string {
	kept := []string{}
	for _, key := range order {
		if _, exists := m.environments[key]; exists && !slices.Contains(kept, key) {
			kept = append(kept, key)
		}
	}
	return kept
}

func (m *model) reclassify(key string, to environments.Classification) {
	from, exists := m.environments[key]
	if !exists || from == to {
		return
	}
	m.environments[key] = to
	if to == environments.AdHoc {
		m.account = m.remove(m.account, key)
		return
	}
	m.account = m.add(m.account, key)
	for user, order := range m.users {
		m.users[user] = m.add(order, key)
	}
}

func (m *model) delete(key string) {
	if key == environments.Production {
		return
	}
	delete(m.environments, key)
	m.account = m.remove(m.account, key)
	for user, order := range m.users {
		m.users[user] = m.remove(order, key)
	}
}

func TestOrders_AnySequence(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "sqlite").Open(t)
	settings := &accounts.Service{Store: db.Accounts()}
	keys := []string{"production", "staging", "a", "b", "c"}
	rapid.Check(t, func(r *rapid.T) {
		h := &fixture{Service: newService(db), db: db, owner: storetest.NewTenant(t, db, "pro").Owner}
		people := []accounts.Caller{h.user(t, "u1"+h.owner.Account, nil), h.user(t, "u2"+h.owner.Account, nil)}
		m := &model{account: []string{"staging", "production"}, users: map[string][]string{},
			environments: map[string]environments.Classification{"production": environments.Standard, "staging": environments.Standard}}
		anyKey := rapid.SampledFrom(keys)
		anyOrder := rapid.SliceOfN(rapid.SampledFrom(append(slices.Clone(keys), "nowhere")), 0, 6)
		for step := range rapid.IntRange(1, 12).Draw(r, "steps") {
			key := anyKey.Draw(r, "key")
			switch rapid.IntRange(0, 6).Draw(r, fmt.Sprint("operation ", step)) {
			case 0:
				if _, err := h.Create(t.Context(), h.owner, fresh(key)); err == nil {
					m.environments[key], m.account = environments.Standard, m.add(m.account, key)
				}
			case 1:
				h.discover(t, key)
				if _, exists := m.environments[key]; !exists {
					m.environments[key] = environments.AdHoc
				}
			case 2, 3:
				to := rapid.SampledFrom([]environments.Classification{environments.Standard, environments.AdHoc}).Draw(r, "to")
				_, _ = h.Replace(t.Context(), h.owner, key, classify(to), nil)
				m.reclassify(key, to)
			case 4:
				_ = h.Delete(t.Context(), h.owner, key, false, nil)
				m.delete(key)
			case 5:
				order := anyOrder.Draw(r, "account order")
				draft := accounts.SettingsDraft{Order: optional.Of(order), Other: json.RawMessage(`{}`)}
				if _, err := settings.ReplaceAccountSettings(t.Context(), h.owner, draft, nil); err != nil {
					r.Fatal(err)
				}
				m.account = m.known(order)
			case 6:
				m.personalize(t, r, settings, rapid.SampledFrom(people).Draw(r, "person"), anyOrder)
			}
			m.check(t, r, h)
		}
	})
}

// personalize gives a user their own order, or removes it.
func (m *model) personalize(t *testing.T, r *rapid.T, settings *accounts.Service, person accounts.Caller, anyOrder *rapid.Generator[[]string]) {
	draft := accounts.SettingsDraft{Other: json.RawMessage(`{}`)}
	delete(m.users, person.UserID)
	if rapid.Bool().Draw(r, "own") {
		order := anyOrder.Draw(r, "order")
		draft.Order, m.users[person.UserID] = optional.Of(order), m.known(order)
	}
	if _, err := settings.ReplaceUserSettings(t.Context(), person, draft, nil); err != nil {
		r.Fatal(err)
	}
}

func (m *model) check(t *testing.T, r *rapid.T, h *fixture) {
	orders, exists := h.orders(t), all(t, h)
	for name, order := range orders.Users {
		m.sound(r, name, order, exists)
	}
	m.sound(r, "the account", orders.Account, exists)
	if !slices.Equal(orders.Account, m.account) || !maps.EqualFunc(orders.Users, m.users, slices.Equal[[]string]) {
		r.Fatalf("the orders are %v %v, want %v %v", orders.Account, orders.Users, m.account, m.users)
	}
}

// sound checks rules that hold for every order, independent of the model.
func (m *model) sound(r *rapid.T, name string, order []string, exists map[string]bool) {
	for i, key := range order {
		if _, known := exists[key]; !known || slices.Contains(order[:i], key) {
			r.Fatalf("%s has %q in %v, and there are %v", name, key, order, slices.Sorted(maps.Keys(exists)))
		}
	}
}
