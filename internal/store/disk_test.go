package store_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// setMaxPages makes SQLite's writer believe that the disk is full, or not.
func setMaxPages(t *testing.T, db *store.DB, pages int) {
	t.Helper()
	if err := db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error {
		return tx.Exec(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
	}); err != nil {
		t.Fatal(err)
	}
}

func TestSQLite_FullDisk(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "sqlite").Open(t)
	account := storetest.NewTenant(t, db, "pro").Account.ID
	large := strings.Repeat("x", 64<<10)
	fill := func(ctx context.Context, tx *store.Tx) error {
		if err := insert(account, "small")(ctx, tx); err != nil {
			return err
		}
		return insert(account, large)(ctx, tx)
	}
	setMaxPages(t, db, 1) // SQLite takes the pages that are in use
	err := db.Write(t.Context(), account, fill)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.All(err)[0].Detail, "space") {
		t.Fatalf("got %v", err)
	}
	if count(t, db, account, "small", large) != 0 {
		t.Error("half of it was kept")
	}
	if err := db.Write(t.Context(), "", func(context.Context, *store.Tx) error { return nil }); err != nil { // this works on a full disk too
		t.Fatal(err)
	}
	if err := db.Writable(); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "no space is left") {
		t.Errorf("with a full disk it says %v", err)
	}
	setMaxPages(t, db, 1<<30)
	if err := db.Write(t.Context(), account, fill); err != nil {
		t.Fatalf("with space again: %v", err)
	}
	if err := db.Writable(); err != nil {
		t.Errorf("with space again it says %v", err)
	}
	if count(t, db, account, "small", large) != 2 {
		t.Error("it was not written")
	}
}

// When SQLite runs out of space it rolls back the whole transaction, and with it the work of every
// writer in the commit: all of them must get an error.
func TestSQLite_FullDiskInGroup(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "sqlite").Open(t)
	account := storetest.NewTenant(t, db, "pro").Account.ID
	setMaxPages(t, db, 1)
	entered, leave := make(chan struct{}), make(chan struct{})
	var errs [10]error
	var writers sync.WaitGroup
	keys := make([]string, len(errs))
	for i := range errs {
		keys[i] = fmt.Sprint(i)
		if i%3 == 2 {
			keys[i] += strings.Repeat("x", 64<<10)
		}
		writers.Go(func() {
			errs[i] = db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
				if i == 0 {
					close(entered)
					<-leave
				}
				return insert(account, keys[i])(ctx, tx)
			})
		})
		if i == 0 {
			<-entered
		}
	}
	storetest.Wait(t, soon, "all writers wait", func() bool { return db.Waiting() == len(errs)-1 })
	close(leave)
	writers.Wait()
	for i, err := range errs {
		if kept := holds(t, db, account, keys[i]); kept != (err == nil) || err != nil && !fault.Is(err, fault.Unavailable) {
			t.Errorf("writer %d got %v, and its work was kept: %v", i, err, kept)
		}
	}
}
