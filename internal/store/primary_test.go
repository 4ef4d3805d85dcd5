package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// longest is far below the limits of the transactions here, which a silent host would use up.
const longest = 10 * time.Second

// twoHosts returns a database that is reached by a proxy first, and else directly.
func twoHosts(t *testing.T) (*store.DB, *storetest.Proxy) {
	t.Helper()
	direct := storetest.New(t, "postgres")
	through, proxy := direct.ThroughProxy(t)
	return through.Before(t, direct).Open(t, func(o *store.Options) {
		o.Limits = store.Limits{Read: time.Minute, Write: time.Minute, Silence: 200 * time.Millisecond}
	}), proxy
}

func TestPrimary_SilentFirstHost(t *testing.T) {
	t.Parallel()
	direct := storetest.New(t, "postgres")
	through, proxy := direct.ThroughProxy(t)
	proxy.Silence()
	began := time.Now()
	db := through.Before(t, direct).Open(t)
	account := storetest.NewTenant(t, db, "pro").Account.ID
	if err := db.Write(t.Context(), account, insert(account, "a")); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > longest {
		t.Errorf("it took %s to write", took)
	}
}

// TestPrimary_FreezesWhileWriting: one write waits for the host that freezes, and idle connections lead there.
func TestPrimary_FreezesWhileWriting(t *testing.T) {
	t.Parallel()
	db, proxy := twoHosts(t)
	account, other := storetest.NewTenant(t, db, "pro").Account.ID, storetest.NewTenant(t, db, "pro").Account.ID
	began, ended := time.Now(), make(chan error, 1)
	err := db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
		proxy.Silence()
		go func() { ended <- db.Write(t.Context(), other, insert(other, "a")) }()
		return insert(account, "a")(ctx, tx)
	})
	if err == nil {
		t.Error("a write through the frozen host was acknowledged")
	}
	if err := <-ended; err != nil {
		t.Errorf("another account cannot write: %v", err)
	}
	if err := db.Write(t.Context(), account, insert(account, "b")); err != nil {
		t.Errorf("the account cannot write again: %v", err)
	}
	if took := time.Since(began); took > longest {
		t.Errorf("it took %s until both accounts could write", took)
	}
	givenBack(t, db, 0)
}

func TestPrimary_ListenerLeavesFrozenHost(t *testing.T) {
	t.Parallel()
	db, proxy := twoHosts(t)
	woken := listen(t, db)
	before := woken.count.Load()
	proxy.Silence()
	woken.more(t, before) // it has connected again
	account := storetest.NewTenant(t, db, "pro").Account.ID
	storetest.Wait(t, soon, "the listener wakes for the account", func() bool {
		change(t, db, account) // a notification is lost if sending it takes longer than Silence
		return woken.account.Load() == account
	})
}

func TestPrimary_CallerGivesUp(t *testing.T) {
	t.Parallel()
	through, proxy := storetest.New(t, "postgres").ThroughProxy(t)
	proxy.Silence()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if db, err := store.Open(ctx, store.Options{Database: through.URL}); err == nil {
		t.Errorf("opened a silent database, %v", db.Close())
	}
	if took := time.Since(began); took > 4*time.Second { // the limit of a connection is 5 s
		t.Errorf("it took %s to give up", took)
	}
}
