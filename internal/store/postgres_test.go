package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestPostgres_RetriesDeadlock(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "postgres").Open(t)
	accounts := [2]string{storetest.NewTenant(t, db, "pro").Account.ID, storetest.NewTenant(t, db, "pro").Account.ID}
	var attempts atomic.Int64
	var both, writers sync.WaitGroup
	both.Add(2)
	meet := [2]func(){sync.OnceFunc(both.Done), sync.OnceFunc(both.Done)}
	for i := range 2 {
		writers.Go(func() {
			mine, others := accounts[i], accounts[1-i]
			err := db.Write(t.Context(), mine, func(ctx context.Context, tx *store.Tx) error {
				attempts.Add(1)
				meet[i]()
				both.Wait() // each holds the lock that the other wants
				return tx.SetAccountOrder(ctx, others, []string{mine})
			})
			if err != nil {
				t.Errorf("writer %d got %v", i, err)
			}
		})
	}
	writers.Wait()
	if attempts.Load() < 3 {
		t.Errorf("there were %d attempts: they did not deadlock", attempts.Load())
	}
}

func TestPostgres_RetriesSerializationFailure(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	// At this level the second of two writers of a row fails instead of waiting.
	separator := "?"
	if strings.Contains(database.URL, "?") {
		separator = "&"
	}
	database.URL += separator + "default_transaction_isolation=repeatable%20read"
	db := database.Open(t)
	account := storetest.NewTenant(t, db, "pro").Account.ID
	var attempts atomic.Int64
	var both, writers sync.WaitGroup
	both.Add(2)
	meet := [2]func(){sync.OnceFunc(both.Done), sync.OnceFunc(both.Done)}
	for i := range 2 {
		writers.Go(func() {
			// Without an account there is no lock, so that both have begun before
			// either writes.
			if err := db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error {
				attempts.Add(1)
				if _, err := tx.Account(ctx, account); err != nil {
					return err
				}
				meet[i]()
				both.Wait()
				return tx.RecordChanges(ctx, account, changes.Change{})
			}); err != nil {
				t.Errorf("writer %d got %v", i, err)
			}
		})
	}
	writers.Wait()
	if attempts.Load() != 3 {
		t.Errorf("there were %d attempts, want 3: one of the two must fail once", attempts.Load())
	}
	complete(t, db, account)
}

// When the server has rolled back the transaction of a slow node, the node runs it again: the first
// attempt cannot have been committed.
func TestPostgres_RetriesIdleTransaction(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before a statement", "before the commit"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			database := storetest.New(t, "postgres")
			db := database.Open(t, func(options *store.Options) { options.Limits.Idle = 100 * time.Millisecond })
			account, raw := storetest.NewTenant(t, db, "pro").Account.ID, database.Raw(t)
			taken := func() (taken bool) {
				err := raw.QueryRowContext(t.Context(), `SELECT count(*) = 0 FROM pg_stat_activity
					WHERE datname = current_database() AND state = 'idle in transaction'`).Scan(&taken)
				return err == nil && taken
			}
			attempts := 0
			err := db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
				if attempts++; attempts > 1 {
					return insert(account, "e")(ctx, tx)
				}
				err := insert(account, "first")(ctx, tx)
				storetest.Wait(t, soon, "the server takes the transaction back", taken)
				if when == "before a statement" {
					err = insert(account, "e")(ctx, tx)
				}
				return err
			})
			// A busy machine may be too slow for the second attempt too.
			if err != nil || attempts < 2 || holds(t, db, account, "first") || !holds(t, db, account, "e") {
				t.Errorf("got %v after %d attempts, or the wrong thing was kept", err, attempts)
			}
		})
	}
}

func TestPostgres_ServerLimits(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "postgres").Open(t, func(options *store.Options) { options.Limits = store.Limits{} })
	account := storetest.NewTenant(t, db, "pro").Account.ID
	check := func(idle, limit int) func(ctx context.Context, tx *store.Tx) error {
		return func(ctx context.Context, tx *store.Tx) error {
			for name, want := range map[string]int{"idle_in_transaction_session_timeout": idle, "lock_timeout": limit, "statement_timeout": limit} {
				got, err := tx.Ask(ctx, `SELECT CAST(setting AS bigint) FROM pg_settings WHERE name = '`+name+`'`)
				if err != nil || got != want {
					t.Errorf("%s is %d, %v, want %d", name, got, err, want)
				}
			}
			return nil
		}
	}
	if err := errors.Join(db.Write(t.Context(), account, check(500, 20_000)), db.WriteUnlimited(t.Context(), check(0, 0))); err != nil {
		t.Error(err)
	}
}

func TestPostgres_RetriesRunOut(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "postgres").Open(t)
	for _, code := range []string{"40001", "40P01"} {
		t.Run(code, func(t *testing.T) {
			attempts := 0
			err := db.Write(t.Context(), "", func(context.Context, *store.Tx) error {
				attempts++
				return fmt.Errorf("wrapped: %w", &pgconn.PgError{Code: code})
			})
			if !fault.Is(err, fault.Unavailable) || attempts != store.WriteAttempts {
				t.Errorf("%d attempts, then %v", attempts, err)
			}
		})
	}
}

func TestPostgres_NoRetry(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "postgres").Open(t)
	for _, wrong := range []error{errors.New("no"), fault.Missing("a", "b"), &pgconn.PgError{Code: "23505"}, &pgconn.PgError{Code: "57P01"}} {
		t.Run(fmt.Sprint(wrong), func(t *testing.T) {
			attempts := 0
			err := db.Write(t.Context(), "", func(context.Context, *store.Tx) error {
				attempts++
				return wrong
			})
			if err == nil || attempts != 1 {
				t.Errorf("%d attempts, then %v", attempts, err)
			}
		})
	}
}

func TestPostgres_CanceledCallerEndsRetries(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "postgres").Open(t)
	ctx, cancel := context.WithCancel(t.Context())
	attempts := 0
	err := db.Write(ctx, "", func(context.Context, *store.Tx) error {
		attempts++
		cancel()
		return &pgconn.PgError{Code: "40001"}
	})
	if attempts != 1 || err == nil {
		t.Errorf("%d attempts, then %v", attempts, err)
	}
	givenBack(t, db, 0)
}

// TestPostgres_ForgetIdleTogether: many transactions find broken connections at the same time and
// close the idle connections, while other transactions end. The pool must not lose count of a
// connection, or it would open no other in its place.
func TestPostgres_ForgetIdleTogether(t *testing.T) {
	t.Parallel()
	const idle, busy = 10, 10 // all that decisions have
	db := storetest.New(t, "postgres").Open(t, func(o *store.Options) { o.Connections = 33 })
	for range 20 {
		var begun, ended sync.WaitGroup
		begun.Add(idle + busy)
		become, forget := make(chan struct{}), make(chan struct{})
		transact := func(until <-chan struct{}) {
			ended.Go(func() {
				if err := db.Write(t.Context(), "", func(context.Context, *store.Tx) error { begun.Done(); <-until; return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		for range idle {
			transact(become)
		}
		for range busy {
			transact(forget)
		}
		begun.Wait()
		close(become)
		storetest.Wait(t, soon, "half of the connections are idle", func() bool { return inUse(db) == busy })
		for range 4 {
			ended.Go(func() { <-forget; db.ForgetIdle() })
		}
		close(forget)
		ended.Wait()
	}
	for name, stats := range db.Pools() {
		if pool := stats(); pool.OpenConnections != pool.Idle {
			t.Errorf("%s: of %d connections %d are idle and %d in use", name, pool.OpenConnections, pool.Idle, pool.InUse)
		}
	}
}

func TestPostgres_ApplicationName(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	database.Open(t)
	var name string
	err := database.Raw(t).QueryRowContext(t.Context(), `SELECT application_name FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' LIMIT 1`).Scan(&name)
	if err != nil || name != "signalbox" {
		t.Errorf("got %q, %v", name, err)
	}
}

func TestOpen_ErrorsHidePassword(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"postgres://user:s3cret@127.0.0.1:port/db",
		"postgres://user:s3cret@[::1/db",
		"postgres://user:s3cret@127.0.0.1:1/db?connect_timeout=1",
		"postgres://user:s3cret@127.0.0.1:5432/db?sslmode=wrong",
		"postgres://user:s3cret%zz@127.0.0.1/db",
		"host=127.0.0.1 port=x password=s3cret",
		"s3cret",
	} {
		t.Run(source, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			db, err := store.Open(ctx, store.Options{Database: source})
			cancel()
			if err == nil {
				_ = db.Close()
				t.Errorf("%s was opened", source)
				return
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error repeats the password: %v", err)
			}
		})
	}
}
