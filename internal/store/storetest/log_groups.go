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
	do(t, db, group.Account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveLogGroups(ctx, []logging.Group{group}) })
}

func deleteGroup(t *testing.T, db *store.DB, account, key string) {
	t.Helper()
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteLogGroup(ctx, account, key, at(52)) })
}

func groupKeys(found []logging.Group) []string {
	return nameOf(found, func(group logging.Group) string { return group.Key })
}

func logGroups(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	bare := logging.Group{Account: account, Key: "bare", Name: "bare", Levels: noLevels(), CreatedAt: at(53), UpdatedAt: at(54)}
	for key, group := range map[string]logging.Group{"everything": newGroup(account, "everything"), "bare": bare} {
		t.Run("a group with "+key+" round trip", func(t *testing.T) {
			saveGroup(t, db, group)
			same(t, find(t, db, (*store.ReadTx).LogGroup, account, key), group)
			lacks(t, db, (*store.ReadTx).LogGroup, other, key)
			lacks(t, db, (*store.ReadTx).Logger, account, key)
		})
	}
	t.Run("case-sensitive keys, counted apart from loggers", func(t *testing.T) {
		saveGroup(t, db, newGroup(account, "Bare"))
		saveLoggers(t, db, bareLogger(account, "logger"))
		same(t, of(t, db, (*store.ReadTx).CountLogGroups, account), 3)
		all, managed := countLoggers(t, db, account)
		same(t, [2]int{all, managed}, [2]int{1, 0})
		lacks(t, db, (*store.ReadTx).LogGroup, account, "logger")
	})
	t.Run("delete", func(t *testing.T) {
		deleteGroup(t, db, account, "Bare")
		deleteGroup(t, db, account, "nothing")
		deleteGroup(t, db, account, "logger") // it is no group
		lacks(t, db, (*store.ReadTx).LogGroup, account, "Bare")
		same(t, of(t, db, (*store.ReadTx).CountLogGroups, account), 2)
		same(t, find(t, db, (*store.ReadTx).Logger, account, "logger"), bareLogger(account, "logger"))
	})
	t.Run("by key and environment", func(t *testing.T) {
		found := find(t, db, (*store.ReadTx).LogGroupsByKey, account, []string{"bare", "logger", "Bare", "everything"})
		same(t, slices.Sorted(slices.Values(groupKeys(found))), []string{"bare", "everything"})
		for environment, want := range map[string][]string{"production": {"everything"}, "prod": nil} {
			t.Run(environment, func(t *testing.T) {
				found := find(t, db, (*store.ReadTx).LogGroupsWithEnvironment, account, environment)
				same(t, groupKeys(found), want)
			})
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
	found := list(t, db, (*store.ReadTx).LogGroups, account, logging.GroupFilter{Search: "K1"}, page.Request{Number: 1, Size: 2, Total: true})
	same(t, groupKeys(found.Items), []string{"k1", "k10"})
	same(t, found.Total, 10)
}
