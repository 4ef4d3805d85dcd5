package store_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// wakes counts the wakes of a listener and keeps the last account.
type wakes struct {
	count   atomic.Int64
	account atomic.Value
}

// listen starts a listener and waits until it is connected.
func listen(t *testing.T, db *store.DB) *wakes {
	t.Helper()
	w := &wakes{}
	listener := db.NewListener(func(account string) {
		w.account.Store(account)
		w.count.Add(1)
	})
	listener.Start(t.Context())
	t.Cleanup(listener.Stop)
	w.more(t, 0)
	return w
}

// more waits until the listener has woken more often than before, and returns how long that took.
func (w *wakes) more(t *testing.T, before int64) time.Duration {
	t.Helper()
	began := time.Now()
	storetest.Wait(t, soon, "the listener wakes", func() bool { return w.count.Load() > before })
	return time.Since(began)
}

// announcedTenant returns an account that no notification is still to come of.
func announcedTenant(t *testing.T, database storetest.Database) string {
	t.Helper()
	db := database.Open(t)
	account := storetest.NewTenant(t, db, "pro").Account.ID
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return account
}

func change(t *testing.T, db *store.DB, account string) {
	t.Helper()
	if err := db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
		return tx.RecordChanges(ctx, account, changes.Change{Kind: "flag", Key: "a"})
	}); err != nil {
		t.Fatal(err)
	}
}

func TestListener_OtherNodesCommit(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	here, there := database.Open(t), database.Open(t)
	account := announcedTenant(t, database)
	woken := listen(t, here)
	quickest := time.Hour
	for i := 0; i < 10 || i < 200 && quickest > 50*time.Millisecond; i++ { // the machine may be busy, but not every time
		before, began := woken.count.Load(), time.Now()
		change(t, there, account)
		woken.more(t, before)
		quickest = min(quickest, time.Since(began))
		if got := woken.account.Load(); got != account {
			t.Fatalf("woken for %q, want %q", got, account)
		}
	}
	t.Logf("the quickest took %s, the commit included", quickest)
	if quickest > 50*time.Millisecond {
		t.Errorf("the quickest took %s", quickest)
	}
}

func TestListener_RolledBack(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	here, there := database.Open(t), database.Open(t)
	account := announcedTenant(t, database)
	woken := listen(t, here)
	before := woken.count.Load()
	_ = there.Write(t.Context(), account, insert(account, "e")) // no change recorded
	recordSome(t, there, account, "a", 1, true)
	change(t, there, account)
	woken.more(t, before)
	if count := woken.count.Load() - before; count != 1 {
		t.Errorf("woke %d times for one change", count)
	}
}

func TestListener_Reconnects(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	through, proxy := database.ThroughProxy(t)
	there := database.Open(t)
	account := storetest.NewTenant(t, there, "pro").Account.ID
	here := through.Open(t, func(options *store.Options) { options.Limits.Reconnect = 10 * time.Millisecond })
	woken := listen(t, here)
	for name, damage := range map[string]func(){
		"cut":       proxy.Cut,
		"restarted": func() { proxy.Down(); proxy.Up() },
	} {
		t.Run(name, func(t *testing.T) {
			before := woken.count.Load()
			damage()
			woken.more(t, before) // something may have been missed meanwhile
			quickest := time.Hour
			for i := 0; i < 5 && quickest > 5*time.Second; i++ {
				before = woken.count.Load()
				change(t, there, account)
				quickest = min(quickest, woken.more(t, before))
			}
			if quickest > 5*time.Second {
				t.Errorf("the quickest change was heard after %s", quickest)
			}
		})
	}
}

func TestListener_StopsDuringOutage(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	through, proxy := database.ThroughProxy(t)
	listener := through.Open(t).NewListener(func(string) {})
	listener.Start(t.Context())
	proxy.Down()
	listener.Stop()
	listener.Stop() // twice is fine
}

func TestListener_SQLite(t *testing.T) {
	t.Parallel()
	listener := storetest.New(t, "sqlite").Open(t).NewListener(func(string) { t.Error("it woke") })
	listener.Start(t.Context())
	listener.Stop()
}
