package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// grouping is a SQLite database that notes how many writers share a commit.
type grouping struct {
	*store.DB
	account string
	mu      sync.Mutex
	groups  []int
}

func newGrouping(t *testing.T, limit time.Duration) *grouping {
	t.Helper()
	g := &grouping{}
	g.DB = storetest.New(t, "sqlite").Open(t, func(options *store.Options) {
		options.Limits.Group = limit
		options.GroupCommitted = func(writers int) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.groups = append(g.groups, writers)
		}
	})
	g.account = storetest.NewTenant(t, g.DB, "pro").Account.ID
	g.groups = nil
	return g
}

// occupy keeps the writer busy until leave is called, and waits for its end.
func occupy(t *testing.T, db *store.DB) (leave func()) {
	t.Helper()
	entered, free, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- db.Write(t.Context(), "", func(context.Context, *store.Tx) error {
			close(entered)
			<-free
			return nil
		})
	}()
	<-entered
	return sync.OnceFunc(func() {
		close(free)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestSQLite_GroupCommit(t *testing.T) {
	t.Parallel()
	const writers = 40
	g := newGrouping(t, soon)
	leave := occupy(t, g.DB)
	defer leave()
	errs := make([]error, writers)
	var waiting sync.WaitGroup
	for i := range writers {
		waiting.Go(func() {
			errs[i] = g.Write(t.Context(), g.account, func(ctx context.Context, tx *store.Tx) error {
				if err := insert(g.account, fmt.Sprint("e", i))(ctx, tx); err != nil {
					return err
				}
				switch i {
				case 7:
					return errors.New("refused")
				case 8:
					panic("boom")
				case 9: // what the database refuses must not end the others' transaction
					return insert(g.account, fmt.Sprint("e", i))(ctx, tx)
				}
				return nil
			})
		})
	}
	storetest.Wait(t, soon, "all writers wait", func() bool { return g.Waiting() == writers })
	leave()
	waiting.Wait()
	for i, err := range errs {
		failing := i >= 7 && i <= 9
		if (err != nil) != failing || holds(t, g.DB, g.account, fmt.Sprint("e", i)) == failing {
			t.Errorf("writer %d got %v, or the wrong thing was kept", i, err)
		}
	}
	refusal := errs[9]
	if !fault.Is(refusal, fault.AlreadyExists) {
		t.Errorf("the duplicate got %v", refusal)
	}
	if want := []int{1 + writers - 3}; !slices.Equal(g.groups, want) {
		t.Errorf("the groups were %v, want %v", g.groups, want)
	}
}

func TestSQLite_GroupSize(t *testing.T) {
	t.Parallel()
	const writers = store.MaxGroup + 100
	for name, each := range map[string]struct {
		limit   time.Duration
		largest int
	}{
		"by count": {soon, store.MaxGroup},
		"by time":  {1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGrouping(t, each.limit)
			leave := occupy(t, g.DB)
			defer leave()
			var waiting sync.WaitGroup
			for i := range writers {
				waiting.Go(func() {
					if err := g.Write(t.Context(), g.account, insert(g.account, fmt.Sprint("e", i))); err != nil {
						t.Error(err)
					}
				})
			}
			storetest.Wait(t, soon, "all writers wait", func() bool { return g.Waiting() == writers })
			leave()
			waiting.Wait()
			total := 0
			for _, group := range g.groups {
				total += group
			}
			if largest := slices.Max(g.groups); largest != each.largest || total != writers+1 {
				t.Errorf("the largest of %v is %d, and all are %d", g.groups, largest, total)
			}
		})
	}
}

func TestSQLite_ReadersDoNotWaitForWriter(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "sqlite").Open(t)
	account := storetest.NewTenant(t, db, "pro").Account.ID
	err := db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
		if err := insert(account, "e")(ctx, tx); err != nil {
			return err
		}
		// The writer is in the middle of a transaction: a reader that
		// waited for it would wait forever.
		if holds(t, db, account, "e") || !holds(t, db, account, "production") {
			t.Error("a reader sees something else than what is committed")
		}
		version, err := db.Version(ctx, account)
		if version == 0 {
			t.Error("a new account has changes")
		}
		return errors.Join(err, db.Ping(ctx))
	})
	if err != nil {
		t.Error(err)
	}
}

// Another program, such as a backup, holds the file.
func TestSQLite_LockedFile(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	db := database.Open(t, func(options *store.Options) { options.Limits.FileLock = 300 * time.Millisecond })
	account := storetest.NewTenant(t, db, "pro").Account.ID
	other := database.Raw(t)
	other.SetMaxOpenConns(1)
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for i := range 3 {
		writers.Go(func() {
			if err := db.Write(t.Context(), account, insert(account, fmt.Sprint("e", i))); !fault.Is(err, fault.Unavailable) {
				t.Errorf("writer %d got %v", i, err)
			}
		})
	}
	writers.Wait()
	if !holds(t, db, account, "production") {
		t.Error("a reader sees nothing")
	}
	if _, err := other.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := db.Write(t.Context(), account, insert(account, "later")); err != nil {
		t.Errorf("when it is free again: %v", err)
	}
}

func TestSQLite_CloseWaits(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	tenant := storetest.NewTenant(t, database.Open(t), "pro")
	db, err := store.Open(t.Context(), database.Options())
	if err != nil {
		t.Fatal(err)
	}
	inside, leave := make(chan struct{}, 2), make(chan struct{})
	ended := make(chan string, 3)
	go func() {
		err := db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error {
			inside <- struct{}{}
			<-leave
			return insert(tenant.Account.ID, "e")(ctx, tx)
		})
		ended <- fmt.Sprint("writer ", err)
	}()
	go func() {
		err := db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) error {
			inside <- struct{}{}
			<-leave
			_, err := tx.Account(ctx, tenant.Account.ID)
			return err
		})
		ended <- fmt.Sprint("reader ", err)
	}()
	<-inside
	<-inside
	go func() { ended <- fmt.Sprint("close ", db.Close()) }()
	storetest.Wait(t, soon, "the database is closing", func() bool {
		return fault.Is(db.Ping(t.Context()), fault.Unavailable)
	})
	select {
	case early := <-ended:
		t.Fatalf("%s came before the writer and the reader were done", early)
	default:
	}
	close(leave)
	got := []string{<-ended, <-ended, <-ended}
	slices.Sort(got)
	if want := []string{"close <nil>", "reader <nil>", "writer <nil>"}; !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if !holds(t, database.Open(t), tenant.Account.ID, "e") {
		t.Error("what the writer was told is kept is gone")
	}
}

func TestClose_ThenUnavailable(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db, err := store.Open(t.Context(), database.Options())
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Migrate(t.Context()), db.Close()); err != nil {
			t.Fatal(err)
		}
		for name, call := range map[string]func() error{
			"Write": func() error { return db.Write(t.Context(), "", func(context.Context, *store.Tx) error { return nil }) },
			"Read": func() error {
				return db.Read(t.Context(), func(_ context.Context, tx *store.ReadTx) error { return reads(t, tx) })
			},
			"Ping":      func() error { return db.Ping(t.Context()) },
			"Version":   func() error { _, err := db.Version(t.Context(), "a"); return err },
			"Heads":     func() error { _, err := db.Heads(t.Context()); return err },
			"KeyByHash": func() error { _, _, err := db.KeyByHash(t.Context(), "a"); return err },
		} {
			t.Run(name, func(t *testing.T) {
				// Tried often: a call that is sometimes left hanging is the worst.
				for range 30 {
					done := make(chan error, 1)
					go func() { done <- call() }()
					select {
					case err := <-done:
						if !fault.Is(err, fault.Unavailable) {
							t.Fatalf("got %v", err)
						}
					case <-time.After(soon):
						t.Fatal("it never came back")
					}
				}
			})
		}
	})
}

func TestClose_Twice(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db, err := store.Open(t.Context(), database.Options())
		if err != nil {
			t.Fatal(err)
		}
		closed := make(chan error, 2)
		go func() { closed <- db.Close(); closed <- db.Close() }()
		for range 2 {
			select {
			case err := <-closed:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(soon):
				t.Fatal("it never came back")
			}
		}
	})
}

func reads(t *testing.T, tx *store.ReadTx) error {
	_, err := tx.AllAccounts(t.Context())
	return err
}

func TestSQLite_FileNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain.db", "with space.db", "100%25.db", "a?b=c.db", "a#b.db", "ünïcödé.db", "a&_pragma=x.db", "a+b;c.db"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			database := storetest.Database{Kind: "sqlite", Dir: folder}
			db := database.Open(t, func(options *store.Options) { options.File = filepath.Join(folder, name) })
			storetest.NewTenant(t, db, "pro")
			files, err := os.ReadDir(folder)
			if err != nil || len(files) == 0 || files[0].Name() != name {
				t.Errorf("the folder has %v, %v", files, err)
			}
		})
	}
}

func TestSQLite_PreparedStatements(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "sqlite").Open(t)
	err := db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error {
		for i := range store.MaxStatements + 10 {
			if err := tx.Exec(ctx, fmt.Sprintf("DELETE FROM environments WHERE key = 'e%d'", i)); err != nil {
				return err
			}
			if count := db.Prepared(); count > store.MaxStatements {
				return fmt.Errorf("%d statements are prepared", count)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := db.Write(t.Context(), "", func(context.Context, *store.Tx) error { return nil }); err != nil {
		t.Errorf("the writer lost its own statements: %v", err)
	}
}
