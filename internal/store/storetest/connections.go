package storetest

import (
	"context"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/internal/connections"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
)

func connectionConcept(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	living, dead := newID(), newID()
	do(t, db, "", func(ctx context.Context, tx *store.Tx) error { return tx.Beat(ctx, living, "node") })
	list := func(account, before string, size int) page.Tail[connections.Connection] {
		return list(t, db, (*store.ReadTx).Connections, account, before, size)
	}
	made := func(account string) connections.Connection {
		return connections.Connection{ID: newID(), Account: account, Node: oddText, Client: oddText, ConnectedAt: at(1), Seq: 7}
	}
	first, second, third := made(account), made(account), made(account)
	first.Service, first.Environment = new(oddText), new("production")
	lost, foreign := made(account), made(other)
	do(t, db, "", func(ctx context.Context, tx *store.Tx) error {
		if err := tx.SaveConnections(ctx, living, []connections.Connection{first, second, third, foreign}); err != nil {
			return err
		}
		return tx.SaveConnections(ctx, dead, []connections.Connection{lost})
	})
	t.Run("newest first, of live nodes", func(t *testing.T) {
		same(t, list(account, "", 2), page.Tail[connections.Connection]{Items: []connections.Connection{third, second}, More: true})
		same(t, list(account, second.ID, 2), page.Tail[connections.Connection]{Items: []connections.Connection{first}})
		same(t, list(other, "", 2).Items, []connections.Connection{foreign})
	})
	t.Run("saved again, only seq changes", func(t *testing.T) {
		changed := first
		changed.Seq, changed.Client = 9, "another"
		do(t, db, "", func(ctx context.Context, tx *store.Tx) error {
			return tx.SaveConnections(ctx, living, []connections.Connection{changed})
		})
		first.Seq = 9
		same(t, list(account, second.ID, 2).Items, []connections.Connection{first})
	})
	t.Run("counted and removed by boot", func(t *testing.T) {
		do(t, db, "", func(ctx context.Context, tx *store.Tx) error {
			count, err := tx.CountConnections(ctx, living)
			same(t, count, 4)
			if err != nil {
				return err
			}
			if err := tx.RemoveConnections(ctx, dead, []string{second.ID}); err != nil { // a connection of another boot
				return err
			}
			return tx.RemoveConnections(ctx, living, []string{third.ID, "none"})
		})
		same(t, list(account, "", 9).Items, []connections.Connection{second, first})
	})
	t.Run("connections of lost nodes are removed", func(t *testing.T) {
		do(t, db, "", func(ctx context.Context, tx *store.Tx) error {
			if err := tx.RemoveLostConnections(ctx, 100); err != nil {
				return err
			}
			count, err := tx.CountConnections(ctx, dead)
			same(t, count, 0)
			return err
		})
		do(t, db, "", func(ctx context.Context, tx *store.Tx) error { return tx.ClearConnections(ctx, living) })
		if left := slices.Concat(list(account, "", 9).Items, list(other, "", 9).Items); len(left) > 0 {
			t.Errorf("%v are left", left)
		}
	})
}
