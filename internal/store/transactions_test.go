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

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestOnChange(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		var woken atomic.Int64
		db.OnChange(func(of string) {
			if woken.Add(1); of != account {
				t.Errorf("woken for %q, want %q", of, account)
			}
		})
		change := func(ctx context.Context, tx *store.Tx) error {
			return tx.RecordChanges(ctx, account, changes.Change{Kind: "flag", Key: "a"})
		}
		for _, step := range []struct {
			name  string
			write func(context.Context, *store.Tx) error
			wakes int64
		}{
			{"nothing recorded", insert(account, "e"), 0},
			{"a change", change, 1},
			{"several changes", func(ctx context.Context, tx *store.Tx) error { return errors.Join(change(ctx, tx), change(ctx, tx)) }, 1},
			{"a change rolled back", func(ctx context.Context, tx *store.Tx) error { return errors.Join(change(ctx, tx), errors.New("no")) }, 0},
		} {
			t.Run(step.name, func(t *testing.T) {
				before := woken.Load()
				_ = db.Write(t.Context(), account, step.write)
				if got := woken.Load() - before; got != step.wakes {
					t.Errorf("%s woke %d times, want %d", step.name, got, step.wakes)
				}
			})
		}
	})
}

func TestOptions_ObserveAndTrace(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		var seen, spans []string
		var mu sync.Mutex
		db := database.Open(t)
		observed := database.Open(t, func(options *store.Options) {
			options.Observe = func(kind string, took time.Duration, err error) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, fmt.Sprintf("%s %v %v", kind, took > 0, err))
			}
			options.Trace = func(ctx context.Context, name string) (context.Context, func(error)) {
				return ctx, func(err error) {
					mu.Lock()
					defer mu.Unlock()
					spans = append(spans, fmt.Sprint(name, " ", err))
				}
			}
		})
		account := storetest.NewTenant(t, db, "pro").Account.ID
		seen, spans = nil, nil // opening migrates
		holds(t, observed, account, "e")
		_ = observed.Write(t.Context(), account, insert(account, "e"))
		_ = observed.Write(t.Context(), account, func(context.Context, *store.Tx) error { return errors.New("no") })
		if got := strings.Join(seen, ", "); got != "read true <nil>, write true <nil>, write true no" {
			t.Errorf("observed %s", got)
		}
		if got := strings.Join(spans, ", "); got != "store read <nil>, store write <nil>, store write no" {
			t.Errorf("traced %s", got)
		}
	})
}

func TestWrite_Panic(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		before := inUse(db)
		// Longer than this test needs: a transaction that is left open keeps its
		// locks, and later transactions wait.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), soon)
		t.Cleanup(cancel)
		for i := range 3 {
			err := recovered(func() error {
				return db.Write(ctx, account, func(ctx context.Context, tx *store.Tx) error {
					if err := insert(account, "taken-back")(ctx, tx); err != nil {
						return err
					}
					panic("boom")
				})
			})
			if err == nil || !strings.Contains(err.Error(), "boom") {
				t.Fatalf("panic %d was swallowed: %v", i, err)
			}
		}
		if err := recovered(func() error { return db.Read(ctx, func(context.Context, *store.ReadTx) error { panic("boom") }) }); err == nil {
			t.Error("the panic of a reader was swallowed")
		}
		givenBack(t, db, before)
		if err := db.Write(ctx, account, insert(account, "later")); err != nil {
			t.Fatalf("the account cannot be written any more: %v", err)
		}
		if holds(t, db, account, "taken-back") || !holds(t, db, account, "later") {
			t.Error("the panicked transaction left something behind")
		}
	})
}

// recovered turns a panic into an error. PostgreSQL runs a transaction on the
// caller's goroutine, where a panic may go on; SQLite must not let it.
func recovered(fn func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panicked: %v", cause)
		}
	}()
	return fn()
}

func inUse(db *store.DB) (connections int) {
	for _, stats := range db.Pools() {
		connections += stats().InUse
	}
	return connections
}

// givenBack waits until exactly want connections are in use: a caller that was canceled returns its
// connection a moment later.
func givenBack(t *testing.T, db *store.DB, want int) {
	t.Helper()
	storetest.Wait(t, soon, "all connections are given back", func() bool { return inUse(db) == want })
}

func TestSQLite_PanicIsError(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "sqlite").Open(t)
	err := db.Write(t.Context(), "", func(context.Context, *store.Tx) error { panic("boom") })
	if err == nil || !strings.Contains(err.Error(), "boom") || fault.All(err) != nil {
		t.Errorf("got %v", err)
	}
}

func TestWrite_CanceledCaller(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 20 { // SQLite's queue may take it or not
			err := db.Write(ctx, account, insert(account, "e"))
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
		}
		if holds(t, db, account, "e") {
			t.Error("it was written")
		}
	})
}

func TestWrite_CanceledInside(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		for i := range 10 {
			key := fmt.Sprint("e", i)
			ctx, cancel := context.WithCancel(t.Context())
			err := db.Write(ctx, account, func(ctx context.Context, tx *store.Tx) error {
				defer cancel()
				return insert(account, key)(ctx, tx)
			})
			if written := holds(t, db, account, key); written != (err == nil) {
				t.Errorf("written is %v and the error %v", written, err)
			}
			if err := db.Write(t.Context(), account, insert(account, key+"-later")); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// endless is a query that nobody waits for.
const endless = `WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 2000000000) SELECT count(*) FROM n`

func TestRead_EndsWithContext(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		for name, each := range map[string]struct {
			leave  func(context.Context) (context.Context, context.CancelFunc)
			outage bool
		}{
			"at a deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, 30*time.Millisecond)
			}, true},
			"by itself": {func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(30*time.Millisecond, cancel)
				return ctx, cancel
			}, false},
		} {
			t.Run(name, func(t *testing.T) {
				for range 10 { // more often than there are connections
					ctx, cancel := each.leave(t.Context())
					began := time.Now()
					err := db.Read(ctx, func(ctx context.Context, tx *store.ReadTx) error {
						_, err := tx.Ask(ctx, endless)
						return err
					})
					cancel()
					if err == nil || fault.Is(err, fault.Unavailable) != each.outage {
						t.Errorf("got %v", err)
					}
					if took := time.Since(began); took > soon { // the query itself takes many minutes
						t.Fatalf("it took %s", took)
					}
				}
				if err := db.Ping(t.Context()); err != nil {
					t.Errorf("afterward: %v", err)
				}
			})
		}
	})
}

// A statement ends with its context also on the way to a later row.
func TestRead_EndsAfterItsFirstRow(t *testing.T) {
	t.Parallel()
	const numbers = `WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 2000000000) `
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		began := time.Now()
		err := db.Read(ctx, func(ctx context.Context, tx *store.ReadTx) error {
			_, err := tx.Ask(ctx, numbers+`SELECT x FROM n WHERE x = 1 OR x = 2000000000`)
			return err
		})
		if took := time.Since(began); err == nil || took > soon {
			t.Errorf("it took %s: %v", took, err)
		}
	})
}

// A context that ends just before a statement begins ends the statement too.
func TestRead_EndsWhateverTheMoment(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "sqlite").Open(t)
	for name, leave := range map[string]func(moment int) (context.Context, context.CancelFunc){
		"at a deadline": func(moment int) (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), time.Duration(moment)*time.Microsecond/2)
		},
		"by itself": func(int) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(t.Context())
			go cancel()
			return ctx, cancel
		},
	} {
		t.Run(name, func(t *testing.T) {
			for moment := range 300 {
				ctx, cancel := leave(moment)
				began := time.Now()
				err := db.Read(ctx, func(ctx context.Context, tx *store.ReadTx) error {
					_, err := tx.Ask(ctx, endless)
					return err
				})
				cancel()
				if took := time.Since(began); err == nil || took > soon {
					t.Fatalf("%d: it took %s: %v", moment, took, err)
				}
			}
		})
	}
}

// SQLite forgets an interrupt when no statement runs. The interrupt of a read must last until the read ends, and no
// longer.
func TestRead_InterruptedUntilItsEnd(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "sqlite").Open(t)
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		err := db.Read(ctx, func(_ context.Context, tx *store.ReadTx) error {
			cancel()
			_, err := tx.AskAnyway(endless)
			for range 10 {
				if answer, again := tx.AskAnyway("SELECT 1"); again == nil {
					t.Fatalf("after %v a statement answered %d", err, answer)
				}
			}
			return err
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if err := db.Ping(t.Context()); err != nil {
			t.Errorf("the next read: %v", err)
		}
	}
}

// All reads in a snapshot see one state, whatever is committed meanwhile.
func TestSnapshot_OneState(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		count := func(tx *store.ReadTx) int {
			environments, err := tx.ManagedEnvironments(t.Context(), account)
			if err != nil {
				t.Error(err)
			}
			return len(environments)
		}
		var before, during, after int
		broken := errors.New("broken")
		_, decisions, _ := db.Priorities()
		for round, want := range []error{nil, broken, fault.Missing("flag", "a"), nil} {
			err := decisions.Snapshot(t.Context(), func(ctx context.Context, tx *store.ReadTx) error {
				before = count(tx)
				if err := db.Write(ctx, account, insert(account, fmt.Sprint("new", round))); err != nil {
					t.Error(err)
				}
				during = count(tx)
				return want
			})
			if !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
			_ = db.Read(t.Context(), func(_ context.Context, tx *store.ReadTx) error { after = count(tx); return nil })
			if during != before || after != before+1 {
				t.Errorf("%d environments before, %d during, %d after", before, during, after)
			}
		}
	})
}

// The parked statement of a reading connection holds no snapshot, so SQLite can still truncate its write-ahead log.
func TestRead_LetsTheLogBeEmptied(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	db := database.Open(t)
	account := storetest.NewTenant(t, db, "pro").Account.ID
	if !holds(t, db, account, "production") { // now a connection has read, and its statement is parked
		t.Fatal("a new account lacks production")
	}
	if err := db.Write(t.Context(), account, insert(account, "e")); err != nil {
		t.Fatal(err)
	}
	var busy, pages, copied int
	err := database.Raw(t).QueryRowContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &copied)
	if err != nil || busy != 0 || pages != 0 {
		t.Errorf("the checkpoint was blocked: busy %d, %d pages left, %v", busy, pages, err)
	}
}
