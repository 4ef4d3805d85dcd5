package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/transaction"
)

func pools(t *testing.T, db *store.DB) {
	if !slices.Contains([]string{"sqlite", "postgres"}, db.Name()) || len(db.Pools()) == 0 {
		t.Errorf("%q has %d pools", db.Name(), len(db.Pools()))
	}
	for name, stats := range db.Pools() {
		if !strings.HasPrefix(name, db.Name()) || stats().OpenConnections < 1 && stats().MaxOpenConnections < 1 {
			t.Errorf("the pool %q of %s has %d connections", name, db.Name(), stats().OpenConnections)
		}
	}
	if db.Name() == "postgres" {
		if allowed, err := db.MaxConnections(t.Context()); err != nil || allowed < 1 {
			t.Errorf("PostgreSQL allows %d connections: %v", allowed, err)
		}
	}
}

func transactions(t *testing.T, db *store.DB) {
	ctx := t.Context()
	t.Run("the database can be reached and has what this program needs", func(t *testing.T) {
		must(t, errors.Join(db.Ping(ctx), db.Migrated(ctx)))
	})
	t.Run("its pools are named after it", func(t *testing.T) { pools(t, db) })
	t.Run("a transaction has one now, in microseconds", func(t *testing.T) {
		before := time.Now().Truncate(time.Microsecond)
		do(t, db, "", func(ctx context.Context, tx *store.Tx) error {
			now := tx.Now()
			if now != tx.Now() || now.Location() != time.UTC || now != now.Truncate(time.Microsecond) || now.Before(before) {
				t.Errorf("now is %v, then %v, and the clock said %v", now, tx.Now(), before)
			}
			return tx.LockSchema(ctx)
		})
	})
	t.Run("an error rolls everything back and is returned", func(t *testing.T) { takenBack(t, db) })
	t.Run("a context that ends inside refuses the next statement", func(t *testing.T) { endedContext(t, db) })
	t.Run("AfterCommit only after a commit", func(t *testing.T) { afterCommit(t, db) })
	t.Run("a transaction sees its own writes, and readers only what is committed", func(t *testing.T) {
		account := newAccount(t, db).ID
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
			if err := tx.InsertEnvironments(ctx, environments.Environment{Account: account, Key: "e"}); err != nil {
				return err
			}
			lacks(t, db, (*store.ReadTx).Environment, account, "e")
			_, err := tx.Environment(ctx, account, "e")
			return err
		})
		find(t, db, (*store.ReadTx).Environment, account, "e")
	})
	t.Run("a reference to a missing account is refused", func(t *testing.T) {
		err := db.Write(ctx, "", func(ctx context.Context, tx *store.Tx) error {
			return tx.InsertUser(ctx, accounts.User{ID: newID(), Account: "nobody"})
		})
		if err == nil {
			t.Error("a user without an account was written")
		}
	})
	t.Run("the transactions of domain packages", func(t *testing.T) { domainTransactions(t, db) })
}

func domainTransactions(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account := newAccount(t, db)
	must(t, Environments(db).Write(ctx, account.ID, func(ctx context.Context, tx environments.Tx) error {
		return tx.InsertEnvironments(ctx, environments.Environment{Account: account.ID, Key: "e"})
	}))
	must(t, db.Accounts().Read(ctx, func(ctx context.Context, tx accounts.ReadTx) error {
		known, err := tx.ManagedEnvironments(ctx, account.ID)
		same(t, known, map[string]bool{"e": false})
		return err
	}))
}

func takenBack(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account, wrong := newAccount(t, db).ID, errors.New("no")
	err := db.Write(ctx, account, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.InsertEnvironments(ctx, environments.Environment{Account: account, Key: "e"}); err != nil {
			return err
		}
		if err := tx.RecordChanges(ctx, account, changes.Change{}); err != nil {
			return err
		}
		return wrong
	})
	if !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
	lacks(t, db, (*store.ReadTx).Environment, account, "e")
	lacks(t, db, (*store.ReadTx).Change, account, 1)
	same(t, record(t, db, account, changes.Change{}).Seq, int64(1))
}

// endedContext ends a context inside a transaction: the next statement is refused.
func endedContext(t *testing.T, db *store.DB) {
	t.Helper()
	account := newAccount(t, db).ID
	err := db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
		short, cancel := context.WithCancel(ctx)
		cancel()
		return tx.InsertEnvironments(short, environments.Environment{Account: account, Key: "e"})
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a write with a context that has ended: %v", err)
	}
	lacks(t, db, (*store.ReadTx).Environment, account, "e")
	err = db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) error {
		short, cancel := context.WithCancel(ctx)
		cancel()
		_, err := tx.Environment(short, account, "e")
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a read with a context that has ended: %v", err)
	}
}

// afterCommit checks that functions given to AfterCommit are called after a commit only.
func afterCommit(t *testing.T, db *store.DB) {
	t.Helper()
	for _, test := range []struct {
		name     string
		returned error
		want     int
	}{{"committed", nil, 1}, {"failed", errors.New("no"), 0}, {"dry run", transaction.ErrDryRun, 0}} {
		t.Run(test.name, func(t *testing.T) {
			calls := 0
			err := db.Write(t.Context(), "", func(_ context.Context, tx *store.Tx) error {
				tx.AfterCommit(func() { calls++ })
				return test.returned
			})
			if wantErr := test.name == "failed"; calls != test.want || (err != nil) != wantErr {
				t.Errorf("called %d times after %v", calls, err)
			}
		})
	}
}
