package storetest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/store"
)

func newEnvironment(t *testing.T, db *store.DB, account, key string, change func(*environments.Environment)) environments.Environment {
	t.Helper()
	environment := changed(environments.Environment{Account: account, Key: key, Name: oddText, Classification: environments.AdHoc,
		CreatedAt: at(10), UpdatedAt: at(11)}, change)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.InsertEnvironments(ctx, environment) })
	return environment
}

func managed(environment *environments.Environment) {
	environment.Managed, environment.Classification = true, environments.Standard
	environment.Color = new("#ff00AA80")
}

func environmentConcept(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	for key, change := range map[string]func(*environments.Environment){"with-nulls": nil, "with-everything": managed} {
		t.Run("an environment "+key+" round trip", func(t *testing.T) {
			written := newEnvironment(t, db, account, key, change)
			same(t, find(t, db, (*store.ReadTx).Environment, account, key), written)
			lacks(t, db, (*store.ReadTx).Environment, other, key)
		})
	}
	t.Run("keys are case-sensitive and per account", func(t *testing.T) {
		newEnvironment(t, db, account, "Case", nil)
		newEnvironment(t, db, account, "case", nil)
		newEnvironment(t, db, other, "case", nil)
		err := db.Write(ctx, account, func(ctx context.Context, tx *store.Tx) error {
			return tx.InsertEnvironments(ctx, environments.Environment{Account: account, Key: "case"})
		})
		refused(t, err, fault.AlreadyExists)
		lacks(t, db, (*store.ReadTx).Environment, other, "Case")
	})
	t.Run("update and delete", func(t *testing.T) { environmentWrites(t, db) })
	t.Run("managed environments", func(t *testing.T) { managedEnvironments(t, db) })
	t.Run("list", func(t *testing.T) { environmentList(t, db) })
	t.Run("filters", func(t *testing.T) { environmentFilters(t, db) })
}

func environmentWrites(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	before := newEnvironment(t, db, account, "e", nil)
	kept, foreign := newEnvironment(t, db, account, "kept", nil), newEnvironment(t, db, other, "e", nil)
	after := before
	after.Name, after.UpdatedAt = "renamed", at(500)
	managed(&after)
	sent := after
	sent.CreatedAt = at(900) // may not change
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateEnvironment(ctx, sent) })
	same(t, find(t, db, (*store.ReadTx).Environment, account, "e"), after)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteEnvironment(ctx, account, "e") })
	lacks(t, db, (*store.ReadTx).Environment, account, "e")
	same(t, find(t, db, (*store.ReadTx).Environment, account, "kept"), kept)
	same(t, find(t, db, (*store.ReadTx).Environment, other, "e"), foreign)
}

func managedEnvironments(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	newEnvironment(t, db, account, "a", managed)
	newEnvironment(t, db, account, "b", nil)
	newEnvironment(t, db, account, "c", managed)
	newEnvironment(t, db, other, "d", managed)
	same(t, of(t, db, (*store.ReadTx).CountManagedEnvironments, account), 2)
	same(t, of(t, db, (*store.ReadTx).CountManagedEnvironments, "nobody"), 0)
	same(t, of(t, db, (*store.ReadTx).ManagedEnvironments, account),
		map[string]bool{"a": true, "b": false, "c": true})
}

func environmentList(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	newEnvironment(t, db, newAccount(t, db).ID, "foreign", nil)
	var written []environments.Environment
	for i, name := range append(oddNames(), oddNames()...) {
		written = append(written, newEnvironment(t, db, account, name+strconv.Itoa(i), func(environment *environments.Environment) {
			environment.Name, environment.CreatedAt, environment.UpdatedAt = name, at(i%4), at(i%5)
			if i%2 == 0 {
				managed(environment)
			}
		}))
	}
	listing[environments.Environment, environments.Filter]{
		read: (*store.ReadTx).Environments, id: func(environment environments.Environment) string { return environment.Key },
		byDefault: "name", fields: []string{"key", "name", "created_at", "updated_at"},
	}.check(t, db, account, written)
}

func environmentFilters(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	names, _ := searches()
	for i, name := range names {
		newEnvironment(t, db, account, "k"+strconv.Itoa(i), func(environment *environments.Environment) {
			environment.Name = name
			if i == 0 {
				managed(environment)
			}
		})
	}
	search := func(t *testing.T, filter environments.Filter) []string {
		t.Helper()
		return nameOf(matches(t, db, (*store.ReadTx).Environments, account, filter), func(environment environments.Environment) string { return environment.Name })
	}
	checkSearch(t, func(t *testing.T, text string) []string { return search(t, environments.Filter{Search: text}) })
	t.Run("search in keys", func(t *testing.T) {
		same(t, search(t, environments.Filter{Search: "K1"}), names[1:2])
	})
	t.Run("long search", func(t *testing.T) {
		for _, text := range []string{strings.Repeat("a", 60_000), strings.Repeat("%", 30_000)} {
			same(t, search(t, environments.Filter{Search: text}), nil)
		}
	})
	t.Run("search does not span key and name", func(t *testing.T) {
		for _, gap := range []string{"", "\n", " ", "\uffff"} {
			t.Run(fmt.Sprintf("%q", gap), func(t *testing.T) {
				same(t, search(t, environments.Filter{Search: "k8" + gap + "plain"}), nil)
			})
		}
	})
	t.Run("filters combine", func(t *testing.T) {
		same(t, search(t, environments.Filter{Managed: optional.Of(true)}), names[:1])
		same(t, len(search(t, environments.Filter{Managed: optional.Of(false)})), len(names)-1)
		same(t, search(t, environments.Filter{Classification: environments.Standard}), names[:1])
		same(t, len(search(t, environments.Filter{Classification: environments.AdHoc})), len(names)-1)
		same(t, search(t, environments.Filter{Search: "ä", Classification: environments.AdHoc}), nil)
		same(t, search(t, environments.Filter{Search: "ä", Classification: environments.Standard, Managed: optional.Of(true)}), names[:1])
	})
	t.Run("search after a rename", func(t *testing.T) {
		renamed := find(t, db, (*store.ReadTx).Environment, account, "k8")
		renamed.Name = "Grün"
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateEnvironment(ctx, renamed) })
		same(t, search(t, environments.Filter{Search: "GRÜN"}), []string{"Grün"})
		same(t, search(t, environments.Filter{Search: "plain"}), nil)
	})
}

func nameOf[T any](items []T, name func(T) string) []string {
	var names []string
	for _, item := range items {
		names = append(names, name(item))
	}
	return names
}

func orders(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	own, follows := newUser(t, db, account, "own", nil).ID, newUser(t, db, account, "follows", nil).ID
	stranger := newUser(t, db, other, "own", nil).ID
	read := func(account string) environments.Orders {
		t.Helper()
		return of(t, db, (*store.ReadTx).EnvironmentOrders, account)
	}
	t.Run("no order at first", func(t *testing.T) {
		same(t, read(account), environments.Orders{Account: []string{}, Users: map[string][]string{}})
	})
	t.Run("orders of account and users", func(t *testing.T) {
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
			return tx.SetAccountOrder(ctx, account, []string{"b", oddText, "a"})
		})
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SetUserOrder(ctx, account, own, []string{}) })
		same(t, read(account), environments.Orders{Account: []string{"b", oddText, "a"}, Users: map[string][]string{own: {}}})
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
			return tx.SetUserOrder(ctx, account, follows, []string{"a"})
		})
		same(t, read(account).Users, map[string][]string{own: {}, follows: {"a"}})
	})
	t.Run("other accounts unchanged", func(t *testing.T) {
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
			return tx.SetUserOrder(ctx, account, stranger, []string{"x"})
		})
		same(t, read(other), environments.Orders{Account: []string{}, Users: map[string][]string{}})
		missing(t, db, func(ctx context.Context, tx *store.ReadTx) (environments.Orders, error) {
			return tx.EnvironmentOrders(ctx, "nobody")
		})
	})
	t.Run("other settings unchanged", func(t *testing.T) {
		chosen := accounts.Settings{Order: []string{"a"}, Other: []byte(oddJSON)}
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SetAccountSettings(ctx, account, chosen) })
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SetAccountOrder(ctx, account, []string{"c"}) })
		chosen.Order = []string{"c"}
		same(t, of(t, db, (*store.ReadTx).AccountSettings, account), chosen)
	})
}
