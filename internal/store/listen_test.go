package store_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// ear counts what a listener hears.
type ear struct{ heard atomic.Int64 }

// listen starts a listener and waits until it is connected.
func listen(t *testing.T, db *store.DB) *ear {
	t.Helper()
	e := &ear{}
	listener := db.NewListener(func() { e.heard.Add(1) })
	listener.Start(t.Context())
	t.Cleanup(listener.Stop)
	e.hears(t, 0)
	return e
}

// hears waits until something more than before was heard, and gives how long
// it took.
func (e *ear) hears(t *testing.T, before int64) time.Duration {
	t.Helper()
	began := time.Now()
	storetest.Wait(t, soon, "the listener hears something", func() bool { return e.heard.Load() > before })
	return time.Since(began)
}

func change(t *testing.T, db *store.DB, account string) {
	t.Helper()
	if err := db.Write(t.Context(), account, func(tx *store.Tx) error {
		return tx.RecordChanges(t.Context(), account, changes.Change{Kind: "flag", Key: "a"})
	}); err != nil {
		t.Fatal(err)
	}
}

func TestAListenerHearsTheCommitsOfOtherNodesAtOnce(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	here, there := database.Open(t), database.Open(t)
	account := storetest.NewTenant(t, there, "pro").Account.ID
	ear := listen(t, here)
	quickest := time.Hour
	for i := 0; i < 10 || i < 200 && quickest > 50*time.Millisecond; i++ { // the machine may be busy, but not every time
		before, began := ear.heard.Load(), time.Now()
		change(t, there, account)
		ear.hears(t, before)
		quickest = min(quickest, time.Since(began))
	}
	t.Logf("the quickest took %s, the commit included", quickest)
	if quickest > 50*time.Millisecond {
		t.Errorf("the quickest took %s", quickest)
	}
}

func TestAListenerHearsNothingOfWhatWasTakenBack(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	here, there := database.Open(t), database.Open(t)
	account := storetest.NewTenant(t, there, "pro").Account.ID
	ear := listen(t, here)
	before := ear.heard.Load()
	_ = there.Write(t.Context(), account, insert(t, account, "e")) // no change recorded
	recordSome(t, there, account, "a", 1, true)
	change(t, there, account)
	ear.hears(t, before)
	if heard := ear.heard.Load() - before; heard != 1 {
		t.Errorf("heard %d times of one change", heard)
	}
}

func TestAListenerComesBackAfterItsConnectionBroke(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	through, proxy := database.ThroughProxy(t)
	there := database.Open(t)
	account := storetest.NewTenant(t, there, "pro").Account.ID
	here := through.Open(t)
	ear := listen(t, here)
	for name, damage := range map[string]func(){
		"cut":       proxy.Cut,
		"restarted": func() { proxy.Down(); proxy.Up() },
	} {
		before := ear.heard.Load()
		damage()
		ear.hears(t, before) // something may have been missed meanwhile
		quickest := time.Hour
		for i := 0; i < 5 && quickest > 5*time.Second; i++ {
			before = ear.heard.Load()
			change(t, there, account)
			quickest = min(quickest, ear.hears(t, before))
		}
		if quickest > 5*time.Second {
			t.Errorf("%s: the quickest change was heard after %s", name, quickest)
		}
	}
}

func TestAListenerStopsWithoutADatabase(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	through, proxy := database.ThroughProxy(t)
	listener := through.Open(t).NewListener(func() {})
	listener.Start(t.Context())
	proxy.Down()
	listener.Stop()
	listener.Stop() // twice is fine
}

func TestSQLiteHasNobodyToListenTo(t *testing.T) {
	t.Parallel()
	listener := storetest.New(t, "sqlite").Open(t).NewListener(func() { t.Error("it heard something") })
	listener.Start(t.Context())
	listener.Stop()
}
