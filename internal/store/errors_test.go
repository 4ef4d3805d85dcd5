package store_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// The databases themselves make each of these errors.
func TestClassify_RealErrors(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		account := storetest.NewTenant(t, db, "pro").Account
		for name, each := range map[string]struct {
			write func(ctx context.Context, tx *store.Tx) error
			want  fault.Code // "" for what is a defect and must stay one
		}{
			"a duplicate primary key": {insert(account.ID, "production"), fault.AlreadyExists},
			"a duplicate unique key": {func(ctx context.Context, tx *store.Tx) error {
				return tx.InsertAccount(ctx, accounts.Account{ID: "x", Key: account.Key})
			}, fault.AlreadyExists},
			"an unknown account": {insert("nobody", "e"), ""},
			"a null that must not be": {func(ctx context.Context, tx *store.Tx) error {
				return tx.Exec(ctx, `INSERT INTO seal_checks (id, sealed) VALUES ('x', NULL)`)
			}, ""},
			"a statement that is no SQL":  {func(ctx context.Context, tx *store.Tx) error { return tx.Exec(ctx, `SELEKT`) }, ""},
			"a table that does not exist": {func(ctx context.Context, tx *store.Tx) error { return tx.Exec(ctx, `DELETE FROM nothing`) }, ""},
			"a refusal of the domain":     {func(context.Context, *store.Tx) error { return fault.New(fault.Forbidden, "no") }, fault.Forbidden},
			"the account's absence":       {func(ctx context.Context, tx *store.Tx) error { _, err := tx.Account(ctx, "x"); return err }, fault.NotFound},
		} {
			t.Run(name, func(t *testing.T) {
				err := db.Write(t.Context(), account.ID, each.write)
				if err == nil {
					t.Fatal("it was accepted")
				}
				if each.want == "" && fault.All(err) != nil || each.want != "" && !fault.Is(err, each.want) {
					t.Errorf("got %v, want %q", err, each.want)
				}
			})
		}
	})
}

func TestClassify_SQLiteOutages(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	database.Open(t)
	file := database.Options().File
	exec := func(source, statement string) error {
		db, err := sql.Open("sqlite", source)
		if err != nil {
			return err
		}
		defer db.Close()
		_, err = db.ExecContext(t.Context(), statement)
		return err
	}
	locked := database.Raw(t)
	locked.SetMaxOpenConns(1)
	if _, err := locked.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"busy":        exec("file:"+file+"?_pragma=busy_timeout(0)", "BEGIN IMMEDIATE"),
		"read-only":   exec("file:"+file+"?mode=ro", "DELETE FROM seal_checks"),
		"cannot open": exec("file:"+filepath.Join(database.Dir, "no", "such", "folder.db"), "SELECT 1"),
	} {
		t.Run(name, func(t *testing.T) {
			if !fault.Is(store.Classify(t.Context(), err), fault.Unavailable) {
				t.Errorf("%v is classified as %v", err, store.Classify(t.Context(), err))
			}
		})
	}
}

func TestClassify_Codes(t *testing.T) {
	t.Parallel()
	refusedConnection := func() error {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		address := listener.Addr().String()
		_ = listener.Close()
		_, err = store.Open(t.Context(), store.Options{Database: "postgres://postgres@" + address + "/x?sslmode=disable"})
		return err
	}()
	for name, each := range map[string]struct {
		err  error
		want fault.Code
	}{
		"a refused connection":       {refusedConnection, fault.Unavailable},
		"a bad connection":           {driver.ErrBadConn, fault.Unavailable},
		"a finished connection":      {sql.ErrConnDone, fault.Unavailable},
		"the end of a connection":    {io.EOF, fault.Unavailable},
		"a sudden end":               {io.ErrUnexpectedEOF, fault.Unavailable},
		"a network error":            {&net.OpError{Op: "read", Err: errors.New("reset")}, fault.Unavailable},
		"a deadline":                 {context.DeadlineExceeded, fault.Unavailable},
		"a broken connection":        {&pgconn.PgError{Code: "08006"}, fault.Unavailable},
		"too many connections":       {&pgconn.PgError{Code: "53300"}, fault.Unavailable},
		"a full disk":                {&pgconn.PgError{Code: "53100"}, fault.Unavailable},
		"a shutdown":                 {&pgconn.PgError{Code: "57P01"}, fault.Unavailable},
		"a crash":                    {&pgconn.PgError{Code: "57P02"}, fault.Unavailable},
		"a start":                    {&pgconn.PgError{Code: "57P03"}, fault.Unavailable},
		"a standby":                  {&pgconn.PgError{Code: "25006"}, fault.Unavailable},
		"too many retries":           {&pgconn.PgError{Code: "40001"}, fault.Unavailable},
		"too many deadlocks":         {&pgconn.PgError{Code: "40P01"}, fault.Unavailable},
		"a statement's time limit":   {&pgconn.PgError{Code: "57014"}, fault.Unavailable},
		"a lock's time limit":        {&pgconn.PgError{Code: "55P03"}, fault.Unavailable},
		"an idle transaction":        {&pgconn.PgError{Code: "25P03"}, fault.Unavailable},
		"a transaction's time limit": {&pgconn.PgError{Code: "25P04"}, fault.Unavailable},
		"a caller who left":          {context.Canceled, ""},
		"a violated check":           {&pgconn.PgError{Code: "23514"}, ""},
		"anything else":              {errors.New("anything"), ""},
		"a refusal stays what it is": {fault.Missing("a", "b"), fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, err := range []error{each.err, fmt.Errorf("wrapped: %w", each.err), errors.Join(each.err, errors.New("more"))} {
				got := store.Classify(t.Context(), err)
				if each.want == "" && fault.All(got) != nil || each.want != "" && !fault.Is(got, each.want) {
					t.Errorf("%v is classified as %v", err, got)
				}
				if !errors.Is(got, each.err) {
					t.Errorf("the cause of %v is lost in %v", err, got)
				}
			}
		})
	}
	if store.Classify(t.Context(), nil) != nil {
		t.Error("no error became one")
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	if dialling := (&net.OpError{Op: "dial", Err: context.Canceled}); fault.All(store.Classify(left, dialling)) != nil {
		t.Error("a caller who left while dialling is told of an outage")
	}
}

// The text for callers must not name the database or its cause.
func TestClassify_DetailHidesCause(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		err := db.Write(t.Context(), account, insert(account, "production"))
		for _, refusal := range fault.All(err) {
			if strings.Contains(strings.ToLower(refusal.Detail), "constraint") || refusal.Err == nil {
				t.Errorf("it says %q and is caused by %v", refusal.Detail, refusal.Err)
			}
		}
	})
}

// Domain packages handle a duplicate inside their transaction, to name the duplicate key.
func TestClassify_DuplicateInsideTransaction(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		_ = db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
			err := tx.InsertEnvironments(ctx, environments.Environment{Account: account, Key: "production"})
			if !fault.Is(err, fault.AlreadyExists) {
				t.Errorf("inside the transaction it is %v", err)
			}
			return err
		})
	})
}

func TestRead_DamagedJSON(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		tenant := storetest.NewTenant(t, db, "pro")
		raw := database.Raw(t)
		for _, damage := range []string{`UPDATE accounts SET plans = '{', environment_order = '{'`, `UPDATE api_keys SET scopes = 'x'`} {
			if _, err := raw.ExecContext(t.Context(), damage); err != nil {
				t.Fatal(err)
			}
		}
		for name, read := range map[string]func(ctx context.Context, tx *store.ReadTx) error{
			"the account": func(ctx context.Context, tx *store.ReadTx) error {
				_, err := tx.Account(ctx, tenant.Account.ID)
				return err
			},
			"its settings": func(ctx context.Context, tx *store.ReadTx) error {
				_, err := tx.AccountSettings(ctx, tenant.Account.ID)
				return err
			},
			"its orders": func(ctx context.Context, tx *store.ReadTx) error {
				_, err := tx.EnvironmentOrders(ctx, tenant.Account.ID)
				return err
			},
			"its key": func(ctx context.Context, tx *store.ReadTx) error {
				_, err := tx.Key(ctx, tenant.Account.ID, tenant.Key.ID)
				return err
			},
		} {
			t.Run(name, func(t *testing.T) {
				err := db.Read(t.Context(), read)
				if err == nil || fault.All(err) != nil || !strings.Contains(err.Error(), "damaged") {
					t.Error(err)
				}
			})
		}
	})
}
