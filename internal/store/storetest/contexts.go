package storetest

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/store"
)

func newContext(account, typeKey, key string) observations.Context {
	return observations.Context{Account: account, Type: typeKey, Key: key, Name: key, Attributes: []byte(oddJSON), CreatedAt: at(40), UpdatedAt: at(41)}
}

func upsert(t *testing.T, db *store.DB, contexts ...observations.Context) {
	t.Helper()
	do(t, db, contexts[0].Account, func(ctx context.Context, tx *store.Tx) error { return tx.UpsertContexts(ctx, contexts) })
}

func readContext(account, typeKey, key string) func(context.Context, *store.ReadTx) (observations.Context, error) {
	return func(ctx context.Context, tx *store.ReadTx) (observations.Context, error) {
		return tx.Context(ctx, account, typeKey, key)
	}
}

func contexts(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	t.Run("round trip", func(t *testing.T) {
		written := newContext(account, "user", oddText)
		upsert(t, db, written)
		same(t, get(t, db, readContext(account, "user", oddText)), written)
		missing(t, db, readContext(account, "device", oddText))
		missing(t, db, readContext(other, "user", oddText))
	})
	t.Run("reports write only changes", func(t *testing.T) { contextReports(t, db) })
	t.Run("known contexts", func(t *testing.T) { knownContexts(t, db) })
	t.Run("rename and delete", func(t *testing.T) { contextWrites(t, db) })
	t.Run("long report", func(t *testing.T) {
		account := newAccount(t, db).ID
		var many []observations.Context
		for i := range 451 { // more than two full statements, and a rest
			each := newContext(account, "user", strconv.Itoa(i))
			if i%2 == 1 {
				each.Attributes = nil
			}
			many = append(many, each)
		}
		upsert(t, db, many...)
		same(t, len(matches(t, db, (*store.ReadTx).Contexts, account, observations.Filter{})), len(many))
	})
	t.Run("list", func(t *testing.T) { contextList(t, db) })
}

func knownContexts(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	bare := func(typeKey, key string, attributes json.RawMessage) observations.Context {
		return observations.Context{Type: typeKey, Key: key, Attributes: attributes}
	}
	upsert(t, db, newContext(account, "user", oddText), newContext(account, "user", "a"), newContext(account, "device", "b"))
	upsert(t, db, newContext(other, "user", "foreign"))
	asked := []observations.Context{bare("user", oddText, []byte(oddJSON)), bare("user", "a", nil), bare("device", "b", []byte(`{}`)),
		bare("device", "a", nil), bare("user", "foreign", nil), bare("User", "a", nil)}
	for i := range 1200 { // more than one statement
		asked = append(asked, bare("user", "unknown"+strconv.Itoa(i), []byte(`{}`)))
	}
	known := func(asked ...observations.Context) map[string]bool {
		return find(t, db, (*store.ReadTx).KnownContexts, account, asked)
	}
	same(t, known(asked...), map[string]bool{"user:" + oddText: true, "user:a": true, "device:b": false})
	same(t, known(), map[string]bool{})
}

func contextReports(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	stored := newContext(account, "user", "alice")
	stored.Name = "Alice"
	upsert(t, db, stored)
	report := func(attributes json.RawMessage, micros int) observations.Context {
		again := newContext(account, "user", "alice")
		again.Attributes, again.CreatedAt, again.UpdatedAt = attributes, at(micros), at(micros)
		upsert(t, db, again)
		return get(t, db, readContext(account, "user", "alice"))
	}
	t.Run("same attributes", func(t *testing.T) { same(t, report([]byte(oddJSON), 100), stored) })
	t.Run("no attributes", func(t *testing.T) { same(t, report(nil, 200), stored) })
	t.Run("other attributes keep the name", func(t *testing.T) {
		stored.Attributes, stored.UpdatedAt = []byte(`{"plan": "pro"}`), at(300)
		same(t, report(stored.Attributes, 300), stored)
	})
	t.Run("empty object removes attributes", func(t *testing.T) {
		stored.Attributes, stored.UpdatedAt = []byte(`{}`), at(400)
		same(t, report(stored.Attributes, 400), stored)
	})
	t.Run("new context without attributes", func(t *testing.T) {
		bare := newContext(account, "user", "bob")
		bare.Attributes = nil
		upsert(t, db, bare)
		bare.Attributes = []byte(`{}`)
		same(t, get(t, db, readContext(account, "user", "bob")), bare)
	})
	t.Run("empty report", func(t *testing.T) {
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.UpsertContexts(ctx, nil) })
	})
}

func contextWrites(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	before := newContext(account, "user", "a")
	upsert(t, db, before, newContext(account, "device", "a"))
	upsert(t, db, newContext(other, "user", "a"))
	after := before
	after.Name, after.UpdatedAt = "renamed", at(99)
	sent := after
	sent.Attributes, sent.CreatedAt = []byte(`{"sent":1}`), at(999) // neither may change
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateContext(ctx, sent) })
	same(t, get(t, db, readContext(account, "user", "a")), after)
	same(t, get(t, db, readContext(account, "device", "a")), newContext(account, "device", "a"))
	same(t, get(t, db, readContext(other, "user", "a")), newContext(other, "user", "a"))
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteContext(ctx, account, "user", "a") })
	missing(t, db, readContext(account, "user", "a"))
	get(t, db, readContext(account, "device", "a"))
	get(t, db, readContext(other, "user", "a"))
}

func contextList(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	upsert(t, db, newContext(newAccount(t, db).ID, "foreign", "foreign"))
	var written []observations.Context
	for i, name := range append(oddNames(), oddNames()...) {
		each := newContext(account, []string{"user", "device"}[i%2], name)
		each.Name, each.CreatedAt, each.UpdatedAt = []string{"one", "two", name}[i%3], at(i%4), at(i%3)
		written = append(written, each)
	}
	upsert(t, db, written...)
	listing[observations.Context, observations.Filter]{
		read: (*store.ReadTx).Contexts, id: observations.Context.ID,
		byDefault: "key", fields: []string{"key", "name", "created_at", "updated_at"},
	}.check(t, db, account, written)
	t.Run("filters", func(t *testing.T) {
		search := func(filter observations.Filter) []string {
			return nameOf(matches(t, db, (*store.ReadTx).Contexts, account, filter), observations.Context.ID)
		}
		same(t, len(search(observations.Filter{ContextType: "user"})), len(oddNames()))
		same(t, search(observations.Filter{ContextType: "device", Search: "日"}), []string{"device:日本"})
		same(t, search(observations.Filter{ContextType: "USER"}), nil)
	})
}
