package storetest

import (
	"context"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/store"
)

func newKey(t *testing.T, db *store.DB, account string, change func(*accounts.Key)) accounts.Key {
	t.Helper()
	key := changed(accounts.Key{ID: newID(), Account: account, Hash: newID(), Name: oddText, Role: accounts.Admin, Status: accounts.Active, Access: accounts.FullAccess,
		CreatedBy: newID(), CreatedAt: at(5), UpdatedAt: at(6)}, change)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.InsertKey(ctx, key) })
	return key
}

// fullKey sets every field of a key.
func fullKey(key *accounts.Key) {
	key.ExpiresAt, key.LastUsedAt = new(at(7)), new(at(8))
	key.Scopes.Environments = []string{"production", oddText}
	key.Scopes.Origins = []string{"https://shop.example"}
	key.Status, key.Role, key.Access = accounts.Revoked, accounts.Viewer, accounts.EvaluateAccess
}

func accessVersion(t *testing.T, db *store.DB) {
	ctx := t.Context()
	key := newKey(t, db, newAccount(t, db).ID, nil)
	var want accounts.Versions
	for _, kinds := range [][]string{{"flag"}, {accounts.KindKey}, {"flag", "config"}, {"flag", accounts.KindKey, "flag"}, {"flag"}} {
		made := make([]changes.Change, len(kinds))
		for i, kind := range kinds {
			made[i] = changes.Change{Kind: kind, Key: "k", Action: changes.Updated}
		}
		do(t, db, key.Account, func(ctx context.Context, tx *store.Tx) error { return tx.RecordChanges(ctx, key.Account, made...) })
		want.Changes += int64(len(kinds))
		if slices.Contains(kinds, accounts.KindKey) {
			want.Access = want.Changes
		}
		_, beside, err := db.KeyByHash(ctx, key.Hash)
		must(t, err)
		same(t, beside, want)
		alone, err := db.Versions(ctx, key.Account)
		must(t, err)
		same(t, alone, want)
		same(t, of(t, db, (*store.ReadTx).AccessVersion, key.Account), want.Access)
		do(t, db, key.Account, func(ctx context.Context, tx *store.Tx) error {
			for range 2 { // the second call returns the version that the lock or the first call read
				inside, err := tx.AccessVersion(ctx, key.Account)
				must(t, err)
				same(t, inside, want.Access)
			}
			return nil
		})
	}
	missing(t, db, func(ctx context.Context, tx *store.ReadTx) (int64, error) { return tx.AccessVersion(ctx, newID()) })
}

func keys(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	for name, change := range map[string]func(*accounts.Key){"with nulls": nil, "with everything": fullKey} {
		t.Run("a key "+name+" comes back as it was written", func(t *testing.T) {
			key := newKey(t, db, account, change)
			same(t, find(t, db, (*store.ReadTx).Key, account, key.ID), key)
			found, _, err := db.KeyByHash(ctx, key.Hash)
			must(t, err)
			same(t, found, key)
			found, beside, err := db.KeyByID(ctx, account, key.ID)
			must(t, err)
			same(t, found, key)
			alone, err := db.Versions(ctx, account)
			must(t, err)
			same(t, beside, alone)
			_, _, err = db.KeyByID(ctx, other, key.ID)
			refused(t, err, fault.NotFound)
			lacks(t, db, (*store.ReadTx).Key, other, key.ID)
		})
	}
	t.Run("an unknown hash is not found", func(t *testing.T) {
		_, _, err := db.KeyByHash(ctx, "unknown")
		refused(t, err, fault.NotFound)
	})
	t.Run("the access version is the number of the last change of a key", func(t *testing.T) { accessVersion(t, db) })
	t.Run("an id or a hash in use is refused, in any account", func(t *testing.T) {
		key := newKey(t, db, account, nil)
		for name, duplicate := range map[string]accounts.Key{"id": {ID: key.ID, Hash: newID()}, "hash": {ID: newID(), Hash: key.Hash}} {
			t.Run(name, func(t *testing.T) {
				for _, duplicate.Account = range []string{account, other} {
					err := db.Write(ctx, "", func(ctx context.Context, tx *store.Tx) error { return tx.InsertKey(ctx, duplicate) })
					refused(t, err, fault.AlreadyExists)
				}
			})
		}
	})
	t.Run("an update changes the allowed fields, of a key of its own account only", func(t *testing.T) { keyUpdate(t, db, account, other) })
	t.Run("a deletion removes a key of its own account only", func(t *testing.T) {
		key, kept := newKey(t, db, account, nil), newKey(t, db, account, nil)
		do(t, db, other, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteKey(ctx, other, key.ID) })
		same(t, find(t, db, (*store.ReadTx).Key, account, key.ID), key)
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteKey(ctx, account, key.ID) })
		lacks(t, db, (*store.ReadTx).Key, account, key.ID)
		same(t, find(t, db, (*store.ReadTx).Key, account, kept.ID), kept)
	})
	t.Run("the list", func(t *testing.T) { keyList(t, db) })
}

func keyUpdate(t *testing.T, db *store.DB, account, other string) {
	before := newKey(t, db, account, fullKey)
	after := before
	after.Name, after.Role, after.Status, after.UpdatedAt = "renamed", accounts.Owner, accounts.Active, at(99)
	after.Scopes, after.ExpiresAt, after.Access = accounts.Scopes{}, nil, accounts.FullAccess
	foreign := after
	foreign.Account = other
	do(t, db, other, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateKey(ctx, foreign) })
	same(t, find(t, db, (*store.ReadTx).Key, account, before.ID), before)
	sent := after
	sent.Hash, sent.CreatedBy, sent.CreatedAt, sent.LastUsedAt = "stolen", "somebody", at(1000), nil
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateKey(ctx, sent) })
	same(t, find(t, db, (*store.ReadTx).Key, account, before.ID), after)
}

func keyList(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	newKey(t, db, newAccount(t, db).ID, nil) // of another account: never listed
	var written []accounts.Key
	for i, name := range append(oddNames(), oddNames()...) {
		written = append(written, newKey(t, db, account, func(key *accounts.Key) {
			key.Name, key.CreatedAt = name, at(i%4)
			if i%3 == 0 {
				fullKey(key)
				key.ExpiresAt, key.LastUsedAt = new(at(i%5)), new(at(100-i%7))
			}
		}))
	}
	listing[accounts.Key, accounts.KeyFilter]{
		read: (*store.ReadTx).Keys, id: func(key accounts.Key) string { return key.ID },
		byDefault: "name", fields: []string{"name", "status", "created_at", "expires_at", "last_used_at"},
	}.check(t, db, account, written)
}
