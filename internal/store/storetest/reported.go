package storetest

import (
	"context"
	"slices"
	"strconv"
	"testing"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/store"
)

func newService(t *testing.T, db *store.DB, account, key string, change func(*observations.ReportingService)) observations.ReportingService {
	t.Helper()
	service := changed(observations.ReportingService{Account: account, Key: key, Name: key, CreatedAt: at(20), UpdatedAt: at(21)}, change)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.InsertServices(ctx, service) })
	return service
}

func services(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	t.Run("round trip", func(t *testing.T) {
		written := newService(t, db, account, oddText, nil)
		same(t, find(t, db, (*store.ReadTx).Service, account, oddText), written)
		lacks(t, db, (*store.ReadTx).Service, other, oddText)
		lacks(t, db, (*store.ReadTx).Service, account, "unknown")
		err := db.Write(ctx, account, func(ctx context.Context, tx *store.Tx) error { return tx.InsertServices(ctx, written) })
		refused(t, err, fault.AlreadyExists)
	})
	t.Run("update and delete", func(t *testing.T) {
		before, kept, foreign := newService(t, db, account, "s", nil), newService(t, db, account, "t", nil), newService(t, db, other, "s", nil)
		after := before
		after.Name, after.UpdatedAt = "renamed", at(99)
		sent := after
		sent.CreatedAt = at(999) // may not change
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateService(ctx, sent) })
		same(t, find(t, db, (*store.ReadTx).Service, account, "s"), after)
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteService(ctx, account, "s") })
		lacks(t, db, (*store.ReadTx).Service, account, "s")
		same(t, find(t, db, (*store.ReadTx).Service, account, "t"), kept)
		same(t, find(t, db, (*store.ReadTx).Service, other, "s"), foreign)
	})
	t.Run("by keys", func(t *testing.T) {
		account, other := newAccount(t, db).ID, newAccount(t, db).ID
		newService(t, db, other, "foreign", nil)
		many := make([]observations.ReportingService, 300) // more than one statement
		for i := range many {
			many[i] = observations.ReportingService{Account: account, Key: strconv.Itoa(i), Name: oddText, CreatedAt: at(i), UpdatedAt: at(i)}
		}
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.InsertServices(ctx, many...) })
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.InsertServices(ctx) })
		existing := find(t, db, (*store.ReadTx).ExistingServices, account, []string{"299", "foreign", "0", "nobody"})
		same(t, slices.Sorted(slices.Values(existing)), []string{"0", "299"})
		same(t, find(t, db, (*store.ReadTx).Service, account, "150"), many[150])
	})
	t.Run("list", func(t *testing.T) { serviceList(t, db) })
}

func serviceList(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	newService(t, db, newAccount(t, db).ID, "foreign", nil)
	names, _ := searches()
	var written []observations.ReportingService
	for i, name := range append(names, append(oddNames(), oddNames()...)...) {
		written = append(written, newService(t, db, account, name+":"+strconv.Itoa(i), func(service *observations.ReportingService) {
			service.Name, service.CreatedAt, service.UpdatedAt = name, at(i%4), at(i%3)
		}))
	}
	listing[observations.ReportingService, observations.Filter]{
		read: (*store.ReadTx).Services, id: func(service observations.ReportingService) string { return service.Key },
		byDefault: "name", fields: []string{"key", "name", "created_at", "updated_at"},
	}.check(t, db, account, written)
	t.Run("search", func(t *testing.T) {
		for text, want := range map[string]string{"ÄPFEL": "Äpfel & Birnen", "50%": "50% off", "N:8": "plain"} {
			t.Run(text, func(t *testing.T) {
				found := matches(t, db, (*store.ReadTx).Services, account, observations.Filter{Search: text})
				same(t, nameOf(found, func(service observations.ReportingService) string { return service.Name }), []string{want})
			})
		}
	})
}

func newContextType(t *testing.T, db *store.DB, account, key string, change func(*observations.ContextType)) observations.ContextType {
	t.Helper()
	contextType := changed(observations.ContextType{Account: account, Key: key, Name: key, Attributes: []byte(oddJSON), CreatedAt: at(30), UpdatedAt: at(31)}, change)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveContextTypes(ctx, contextType) })
	return contextType
}

func contextTypes(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	t.Run("round trip", func(t *testing.T) {
		written := newContextType(t, db, account, oddText, nil)
		same(t, find(t, db, (*store.ReadTx).ContextType, account, oddText), written)
		lacks(t, db, (*store.ReadTx).ContextType, other, oddText)
	})
	t.Run("by keys", func(t *testing.T) {
		account, other := newAccount(t, db).ID, newAccount(t, db).ID
		many := make([]observations.ContextType, 300) // more than one statement
		for i := range many {
			many[i] = observations.ContextType{Account: account, Key: strconv.Itoa(i), Name: oddText, Attributes: []byte(`{}`), CreatedAt: at(i), UpdatedAt: at(i)}
		}
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveContextTypes(ctx, many...) })
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveContextTypes(ctx) })
		newContextType(t, db, other, "foreign", nil)
		byKey := func(keys ...string) []observations.ContextType {
			found := find(t, db, (*store.ReadTx).ContextTypesByKey, account, keys)
			slices.SortFunc(found, func(a, b observations.ContextType) int { return a.CreatedAt.Compare(b.CreatedAt) })
			return found
		}
		same(t, byKey("299", "foreign", "0", "nobody", "0"), []observations.ContextType{many[0], many[299]})
		same(t, byKey(), nil)
	})
	t.Run("update", func(t *testing.T) {
		before, foreign := newContextType(t, db, account, "u", nil), newContextType(t, db, other, "u", nil)
		after := before
		after.Name, after.Attributes, after.UpdatedAt = "renamed", []byte(`{"x": 1.50}`), at(99)
		sent := after
		sent.CreatedAt = at(999) // may not change
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveContextTypes(ctx, sent) })
		same(t, find(t, db, (*store.ReadTx).ContextType, account, "u"), after)
		same(t, find(t, db, (*store.ReadTx).ContextType, other, "u"), foreign)
	})
	t.Run("delete removes the type's contexts", func(t *testing.T) {
		account, other := newAccount(t, db).ID, newAccount(t, db).ID
		for _, each := range []string{account, other} {
			newContextType(t, db, each, "user", nil)
			newContextType(t, db, each, "device", nil)
			upsert(t, db, newContext(each, "user", "a"), newContext(each, "device", "a"))
		}
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteContextType(ctx, account, "user") })
		lacks(t, db, (*store.ReadTx).ContextType, account, "user")
		missing(t, db, readContext(account, "user", "a"))
		find(t, db, (*store.ReadTx).ContextType, account, "device")
		get(t, db, readContext(account, "device", "a"))
		find(t, db, (*store.ReadTx).ContextType, other, "user")
		get(t, db, readContext(other, "user", "a"))
	})
	t.Run("list", func(t *testing.T) { contextTypeList(t, db) })
}

func contextTypeList(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	newContextType(t, db, newAccount(t, db).ID, "foreign", nil)
	var written []observations.ContextType
	for i, name := range append(oddNames(), oddNames()...) {
		written = append(written, newContextType(t, db, account, name+strconv.Itoa(i), func(contextType *observations.ContextType) {
			contextType.Name, contextType.CreatedAt, contextType.UpdatedAt = name, at(i%4), at(i%3)
		}))
	}
	listing[observations.ContextType, observations.Filter]{
		read: (*store.ReadTx).ContextTypes, id: func(contextType observations.ContextType) string { return contextType.Key },
		byDefault: "key", fields: []string{"key", "name", "created_at", "updated_at"},
	}.check(t, db, account, written)
	t.Run("search", func(t *testing.T) {
		found := matches(t, db, (*store.ReadTx).ContextTypes, account, observations.Filter{Search: "Ä"})
		same(t, nameOf(found, func(contextType observations.ContextType) string { return contextType.Name }), []string{"ä", "ä"})
	})
}
