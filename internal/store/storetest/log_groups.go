package storetest

import (
	"context"
	"slices"
	"strconv"
	"testing"

	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
)

func newGroup(account, key string) logging.Group {
	return logging.Group{Account: account, Key: key, Name: oddText, Levels: newLevels(), CreatedAt: at(50), UpdatedAt: at(51)}
}

func saveGroup(t *testing.T, db *store.DB, group logging.Group) {
	t.Helper()
	do(t, db, group.Account, func(tx *store.Tx) error { return tx.SaveLogGroups(t.Context(), []logging.Group{group}) })
}

func deleteGroup(t *testing.T, db *store.DB, account, key string) {
	t.Helper()
	do(t, db, account, func(tx *store.Tx) error { return tx.DeleteLogGroup(t.Context(), account, key, at(52)) })
}

func readGroup(ctx context.Context, account, key string) func(*store.ReadTx) (logging.Group, error) {
	return func(tx *store.ReadTx) (logging.Group, error) { return tx.LogGroup(ctx, account, key) }
}

func countGroups(t *testing.T, db *store.DB, account string) int {
	t.Helper()
	return get(t, db, func(tx *store.ReadTx) (int, error) { return tx.CountLogGroups(t.Context(), account) })
}

func groupKeys(found []logging.Group) []string {
	return nameOf(found, func(group logging.Group) string { return group.Key })
}

func logGroups(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	bare := logging.Group{Account: account, Key: "bare", Name: "bare", Levels: noLevels(), CreatedAt: at(53), UpdatedAt: at(54)}
	for key, group := range map[string]logging.Group{"everything": newGroup(account, "everything"), "bare": bare} {
		t.Run("a group with "+key+" round trip", func(t *testing.T) {
			saveGroup(t, db, group)
			same(t, get(t, db, readGroup(ctx, account, key)), group)
			missing(t, db, readGroup(ctx, other, key))
			missing(t, db, readLogger(ctx, account, key))
		})
	}
	t.Run("case-sensitive keys, counted apart from loggers", func(t *testing.T) {
		saveGroup(t, db, newGroup(account, "Bare"))
		saveLoggers(t, db, bareLogger(account, "logger"))
		same(t, countGroups(t, db, account), 3)
		all, managed := countLoggers(t, db, account)
		same(t, [2]int{all, managed}, [2]int{1, 0})
		missing(t, db, readGroup(ctx, account, "logger"))
	})
	t.Run("delete", func(t *testing.T) {
		deleteGroup(t, db, account, "Bare")
		deleteGroup(t, db, account, "nothing")
		deleteGroup(t, db, account, "logger") // which is none
		missing(t, db, readGroup(ctx, account, "Bare"))
		same(t, countGroups(t, db, account), 2)
		same(t, get(t, db, readLogger(ctx, account, "logger")), bareLogger(account, "logger"))
	})
	t.Run("by key and environment", func(t *testing.T) {
		found := get(t, db, func(tx *store.ReadTx) ([]logging.Group, error) {
			return tx.LogGroupsByKey(ctx, account, []string{"bare", "logger", "Bare", "everything"})
		})
		same(t, slices.Sorted(slices.Values(groupKeys(found))), []string{"bare", "everything"})
		for environment, want := range map[string][]string{"production": {"everything"}, "prod": nil} {
			found := get(t, db, func(tx *store.ReadTx) ([]logging.Group, error) {
				return tx.LogGroupsWithEnvironment(ctx, account, environment)
			})
			same(t, groupKeys(found), want)
		}
	})
	t.Run("list", func(t *testing.T) { logGroupList(t, db) })
}

func logGroupList(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	saveGroup(t, db, newGroup(newAccount(t, db).ID, "foreign"))
	saveLoggers(t, db, bareLogger(account, "logger"))
	var written []logging.Group
	for i, name := range oddNames() {
		group := newGroup(account, "k"+strconv.Itoa(i))
		group.Name, group.CreatedAt, group.UpdatedAt = name, at(i%5), at(i%4)
		saveGroup(t, db, group)
		written = append(written, group)
	}
	listing[logging.Group, logging.GroupFilter]{
		read: (*store.ReadTx).LogGroups, id: func(group logging.Group) string { return group.Key },
		byDefault: "key", fields: []string{"key", "name", "created_at", "updated_at"},
	}.check(t, db, account, written)
	found := get(t, db, func(tx *store.ReadTx) (page.List[logging.Group], error) {
		return tx.LogGroups(t.Context(), account, logging.GroupFilter{Search: "K1"}, page.Request{Number: 1, Size: 2, Total: true})
	})
	same(t, groupKeys(found.Items), []string{"k1", "k10"})
	same(t, found.Total, 10)
}
