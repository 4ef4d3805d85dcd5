package storetest

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/store"
)

func newAccount(t *testing.T, db *store.DB) accounts.Account {
	t.Helper()
	id := newID()
	account := accounts.Account{ID: id, Key: "key-" + id, Name: oddText, CreatedAt: at(1), UpdatedAt: at(2),
		Plans: plans.Held{plans.Jobs: "pro", plans.Flags: oddText}}
	do(t, db, "", func(ctx context.Context, tx *store.Tx) error { return tx.InsertAccount(ctx, account) })
	return account
}

func accountConcept(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account, other := newAccount(t, db), newAccount(t, db)
	t.Run("find by id and key", func(t *testing.T) {
		same(t, of(t, db, (*store.ReadTx).Account, account.ID), account)
		same(t, of(t, db, (*store.ReadTx).AccountByKey, account.Key), account)
	})
	t.Run("missing account", func(t *testing.T) {
		missing(t, db, func(ctx context.Context, tx *store.ReadTx) (accounts.Account, error) {
			return tx.Account(ctx, account.Key)
		})
		missing(t, db, func(ctx context.Context, tx *store.ReadTx) (accounts.Account, error) {
			return tx.AccountByKey(ctx, account.ID)
		})
		_, err := db.Version(ctx, "nobody")
		refused(t, err, fault.NotFound)
	})
	t.Run("duplicate id or key", func(t *testing.T) {
		for name, duplicate := range map[string]accounts.Account{"id": {ID: account.ID, Key: newID()}, "key": {ID: newID(), Key: account.Key}} {
			t.Run(name, func(t *testing.T) {
				err := db.Write(ctx, "", func(ctx context.Context, tx *store.Tx) error { return tx.InsertAccount(ctx, duplicate) })
				refused(t, err, fault.AlreadyExists)
			})
		}
		taken := account
		taken.Key = other.Key
		refused(t, db.Write(ctx, account.ID, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateAccount(ctx, taken) }), fault.AlreadyExists)
		same(t, of(t, db, (*store.ReadTx).Account, account.ID), account)
	})
	t.Run("update", func(t *testing.T) { accountUpdate(t, db) })
	t.Run("list, oldest first", func(t *testing.T) { accountsByAge(t, db) })
}

func accountUpdate(t *testing.T, db *store.DB) {
	before, other := newAccount(t, db), newAccount(t, db)
	chosen := accounts.Settings{Order: []string{"b", "a"}, Other: []byte(oddJSON)}
	do(t, db, before.ID, func(ctx context.Context, tx *store.Tx) error { return tx.SetAccountSettings(ctx, before.ID, chosen) })
	after := before
	after.Name, after.Key, after.UpdatedAt = "renamed", "renamed-"+before.ID, at(77)
	after.Plans = maps.Clone(before.Plans)
	after.Plans[plans.Jobs] = "free"
	do(t, db, before.ID, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateAccount(ctx, after) })
	same(t, of(t, db, (*store.ReadTx).Account, before.ID), after)
	same(t, of(t, db, (*store.ReadTx).Account, other.ID), other)
	same(t, of(t, db, (*store.ReadTx).AccountSettings, before.ID), chosen)
}

func accountsByAge(t *testing.T, db *store.DB) {
	var made []string
	for _, age := range []int{30, 10, 20, 10} {
		account := accounts.Account{ID: newID(), Key: newID(), CreatedAt: at(age), UpdatedAt: at(age)}
		do(t, db, "", func(ctx context.Context, tx *store.Tx) error { return tx.InsertAccount(ctx, account) })
		made = append(made, account.ID)
	}
	all := get(t, db, func(ctx context.Context, tx *store.ReadTx) ([]accounts.Account, error) { return tx.AllAccounts(ctx) })
	var found []string
	for _, account := range all { // the database has accounts of other tests as well
		if slices.Contains(made, account.ID) {
			found = append(found, account.ID)
		}
	}
	same(t, found, []string{made[1], made[3], made[2], made[0]})
	same(t, get(t, db, func(ctx context.Context, tx *store.ReadTx) (accounts.Account, error) { return tx.FirstAccount(ctx) }), all[0])
}

func settings(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	user, stranger := newUser(t, db, account, "a", nil).ID, newUser(t, db, other, "a", nil).ID
	setUser := func(t *testing.T, account, user string, settings accounts.Settings) {
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SetUserSettings(ctx, account, user, settings) })
	}
	t.Run("empty at first", func(t *testing.T) {
		same(t, of(t, db, (*store.ReadTx).AccountSettings, account), accounts.Settings{Order: []string{}, Other: []byte("{}")})
		same(t, find(t, db, (*store.ReadTx).UserSettings, account, user), accounts.Settings{Other: []byte("{}")})
	})
	t.Run("round trip", func(t *testing.T) {
		for _, order := range [][]string{{"b", "a", oddText}, {}} {
			chosen := accounts.Settings{Order: order, Other: []byte(oddJSON)}
			do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SetAccountSettings(ctx, account, chosen) })
			setUser(t, account, user, chosen)
			same(t, of(t, db, (*store.ReadTx).AccountSettings, account), chosen)
			same(t, find(t, db, (*store.ReadTx).UserSettings, account, user), chosen)
		}
	})
	t.Run("no order", func(t *testing.T) {
		chosen := accounts.Settings{Other: []byte("{}")}
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SetAccountSettings(ctx, account, chosen) })
		setUser(t, account, user, chosen)
		same(t, of(t, db, (*store.ReadTx).AccountSettings, account).Order, []string{})
		same(t, find(t, db, (*store.ReadTx).UserSettings, account, user).Order, nil)
	})
	t.Run("other accounts and users unchanged", func(t *testing.T) {
		setUser(t, other, user, accounts.Settings{Order: []string{"x"}, Other: []byte(`{"x":1}`)})
		same(t, of(t, db, (*store.ReadTx).AccountSettings, other), accounts.Settings{Order: []string{}, Other: []byte("{}")})
		same(t, find(t, db, (*store.ReadTx).UserSettings, other, stranger), accounts.Settings{Other: []byte("{}")})
		same(t, find(t, db, (*store.ReadTx).UserSettings, account, user).Order, nil)
		lacks(t, db, (*store.ReadTx).UserSettings, other, user)
		missing(t, db, func(ctx context.Context, tx *store.ReadTx) (accounts.Settings, error) {
			return tx.AccountSettings(ctx, "nobody")
		})
	})
}
