package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// network is a PostgreSQL database whose network a test can break.
type network struct {
	*store.DB
	proxy    *storetest.Proxy
	direct   storetest.Database
	account  string
	attempts int
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{direct: storetest.New(t, "postgres")}
	through, proxy := n.direct.ThroughProxy(t)
	n.DB, n.proxy = through.Open(t, func(options *store.Options) { options.Limits.Read = time.Second }), proxy
	n.account = storetest.NewTenant(t, n.DB, "pro").Account.ID
	return n
}

// works waits until the same handle writes and reads again.
func (n *network) works(t *testing.T) {
	t.Helper()
	storetest.Wait(t, soon, "the database works again", func() bool {
		n.attempts++
		key := fmt.Sprint("again-", n.attempts)
		err := n.Write(t.Context(), n.account, insert(n.account, key))
		if err != nil && !fault.Is(err, fault.Unavailable) {
			t.Fatalf("it is no outage: %v", err)
		}
		return err == nil && holds(t, n.DB, n.account, key)
	})
	givenBack(t, n.DB, 0)
}

func TestPostgres_ConnectionBreaksInTransaction(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(t *testing.T, n *network, tx *store.Tx){
		"the network is cut": func(_ *testing.T, n *network, _ *store.Tx) { n.proxy.Cut() },
		"the server ends it": func(t *testing.T, n *network, _ *store.Tx) {
			if _, err := n.direct.Raw(t).ExecContext(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid()`); err != nil {
				t.Error(err)
			}
		},
		"the server is restarted": func(t *testing.T, n *network, _ *store.Tx) {
			n.proxy.Down()
			t.Cleanup(n.proxy.Up)
		},
	} {
		for _, when := range []string{"before a statement", "before the commit"} {
			t.Run(name+" "+when, func(t *testing.T) {
				t.Parallel()
				n := newNetwork(t)
				err := n.Write(t.Context(), n.account, func(ctx context.Context, tx *store.Tx) error {
					if err := insert(n.account, "lost")(ctx, tx); err != nil {
						return err
					}
					cut(t, n, tx)
					if when == "before the commit" {
						return nil
					}
					return insert(n.account, "lost too")(ctx, tx)
				})
				if !fault.Is(err, fault.Unavailable) {
					t.Errorf("got %v", err)
				}
				n.proxy.Up()
				n.works(t)
				if count(t, n.DB, n.account, "lost", "lost too") != 0 {
					t.Error("something of it was kept")
				}
			})
		}
	}
}

func TestPostgres_Outage(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.proxy.Down()
	for name, call := range map[string]func() error{
		"Ping":      func() error { return n.Ping(t.Context()) },
		"Migrated":  func() error { return n.Migrated(t.Context()) },
		"Version":   func() error { _, err := n.Version(t.Context(), n.account); return err },
		"Heads":     func() error { _, err := n.Heads(t.Context()); return err },
		"After":     func() error { _, err := n.After(t.Context(), n.account, 0, 1); return err },
		"KeyByHash": func() error { _, _, err := n.KeyByHash(t.Context(), "a"); return err },
		"HasSeal":   func() error { _, err := n.HasSeal(t.Context()); return err },
		"Write":     func() error { return n.Write(t.Context(), n.account, insert(n.account, "e")) },
		"Read": func() error {
			return n.Read(t.Context(), func(_ context.Context, tx *store.ReadTx) error { return reads(t, tx) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 { // with what is left in the pool, and with new connections
				if err := call(); !fault.Is(err, fault.Unavailable) {
					t.Errorf("got %v", err)
				}
			}
		})
	}
	n.proxy.Up()
	n.works(t)
}

// A machine that loses power closes no connection. A caller with a deadline must get an answer by
// then, and the next caller a connection that works.
func TestPostgres_SilentConnection(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.proxy.Stall()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := n.Write(ctx, n.account, insert(n.account, "late")); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_ = n.Ping(ctx)
	n.proxy.Cut()
	n.works(t)
	if holds(t, n.DB, n.account, "late") {
		t.Error("it was written after its deadline")
	}
}

// Callers share one query for an account's version. A query on a silent connection must not keep
// all later callers of that account waiting.
func TestVersion_SilentConnection(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.proxy.Stall()
	ask := func(patience time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err := n.Version(ctx, n.account)
		return err
	}
	if err := ask(200 * time.Millisecond); err == nil {
		t.Fatal("the connection is not silent")
	}
	storetest.Wait(t, soon, "a version is read on a new connection", func() bool { return ask(time.Second) == nil })
}

// After a failover the pool may be full of connections to a server that is now a standby: such
// connections read, and refuse to write, until they are closed.
func TestPostgres_Standby(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	db := database.Open(t)
	account := storetest.NewTenant(t, db, "pro").Account.ID
	raw := database.Raw(t)
	statement := func(text string) {
		t.Helper()
		if _, err := raw.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	alter := `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I %s', current_database(), '`
	statement(alter + `SET default_transaction_read_only = on'); END $$`)
	statement(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	storetest.Wait(t, soon, "a connection to the standby is made", func() bool {
		err := db.Write(t.Context(), account, insert(account, "refused"))
		if err == nil || !fault.Is(err, fault.Unavailable) {
			t.Fatalf("got %v", err)
		}
		return db.Ping(t.Context()) == nil
	})
	statement(`SET default_transaction_read_only = off`)
	statement(alter + `RESET default_transaction_read_only'); END $$`)
	_ = db.Write(t.Context(), account, insert(account, "noticed"))
	storetest.Wait(t, soon, "it writes again", func() bool {
		err := db.Write(t.Context(), account, insert(account, "written"))
		return err == nil || fault.Is(err, fault.AlreadyExists)
	})
}
