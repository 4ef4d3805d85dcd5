package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// Two nodes write to two accounts with 32 writers each. A reader that follows the history by its
// numbers must see every change once and in order, or events would be lost.
func TestRecordChanges_CommitOrder(t *testing.T) {
	t.Parallel()
	const writers, writes = 32, 8
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		nodes := [2]*store.DB{database.Open(t), database.Open(t)}
		tenants := [2]storetest.Tenant{storetest.NewTenant(t, nodes[0], "pro"), storetest.NewTenant(t, nodes[1], "pro")}
		following, stop := context.WithCancel(t.Context())
		var followers, running sync.WaitGroup
		for _, tenant := range tenants {
			for _, node := range nodes {
				followers.Go(func() { follow(following, t, node, tenant.Account.ID) })
			}
		}
		for i := range writers {
			running.Go(func() {
				for j := range writes {
					account := tenants[(i+j)%2].Account.ID
					recordSome(t, nodes[i%2], account, fmt.Sprint(i, " ", j), 1+j%2, j%5 == 4)
				}
			})
		}
		running.Wait()
		stop()
		followers.Wait()
		for _, tenant := range tenants {
			complete(t, nodes[0], tenant.Account.ID)
		}
	})
}

// recordSome records changes in one transaction, which is rolled back if fail is set.
func recordSome(t *testing.T, db *store.DB, account, key string, count int, fail bool) {
	wrong := fmt.Errorf("rolled back")
	err := db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.RecordChanges(ctx, account, slices.Repeat([]changes.Change{{Kind: "flag", Key: key}}, count)...); err != nil {
			return err
		}
		if fail {
			return wrong
		}
		return nil
	})
	if (err != nil) != fail {
		t.Errorf("recording %s got %v", key, err)
	}
}

// follow reads new changes until it is stopped and checks that their numbers have no gap.
func follow(ctx context.Context, t *testing.T, db *store.DB, account string) {
	seen := int64(0)
	pace := time.NewTicker(time.Millisecond) // leaves the processors to the writers
	defer pace.Stop()
	for ; ctx.Err() == nil; <-pace.C {
		news, err := db.After(t.Context(), account, seen, 7)
		if err != nil {
			t.Error(err)
			return
		}
		for _, change := range news {
			if change.Seq != seen+1 {
				t.Errorf("after %d came %d: what is between may come later", seen, change.Seq)
				return
			}
			seen = change.Seq
		}
	}
}

// complete checks that the numbers have no holes and end where the account says.
func complete(t *testing.T, db *store.DB, account string) {
	t.Helper()
	all, err := db.After(t.Context(), account, 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for i, change := range all {
		if change.Seq != int64(i+1) {
			t.Fatalf("number %d is in the place of %d", change.Seq, i+1)
		}
	}
	heads, err := db.Heads(t.Context())
	if err != nil || heads[account] != int64(len(all)) {
		t.Errorf("the head is %d with %d changes, %v", heads[account], len(all), err)
	}
	version, err := db.Version(t.Context(), account)
	if err != nil || version != int64(len(all)) {
		t.Errorf("the version is %d with %d changes, %v", version, len(all), err)
	}
}

// A version decides whether a cached response may be used, so it must include every acknowledged
// change.
func TestVersion_NotOlderThanAcknowledged(t *testing.T) {
	t.Parallel()
	const readers, writes = 8, 40
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		acknowledged := atomic.Int64{}
		reading, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for range readers {
			running.Go(func() {
				for reading.Err() == nil {
					least := acknowledged.Load()
					version, err := db.Version(t.Context(), account)
					if err != nil || version < least {
						t.Errorf("got %d when %d was acknowledged, %v", version, least, err)
						return
					}
				}
			})
		}
		for range writes {
			recordSome(t, db, account, "a", 1, false)
			heads, err := db.Heads(t.Context())
			if err != nil {
				t.Error(err)
			}
			acknowledged.Store(heads[account])
		}
		stop()
		running.Wait()
	})
}

func TestVersion_OtherNodesCommit(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		here, there := database.Open(t), database.Open(t)
		account := storetest.NewTenant(t, here, "pro").Account.ID
		quickest := time.Hour
		for range 10 { // the machine may be busy, but not ten times
			before, err := here.Version(t.Context(), account)
			if err != nil {
				t.Fatal(err)
			}
			recordSome(t, there, account, "a", 1, false)
			recorded := time.Now()
			storetest.Wait(t, soon, "the version has moved", func() bool {
				version, err := here.Version(t.Context(), account)
				return err == nil && version == before+1
			})
			quickest = min(quickest, time.Since(recorded))
		}
		if quickest > time.Second {
			t.Errorf("the quickest took %s", quickest)
		}
	})
}

func TestVersion_CanceledCaller(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 10 {
			if _, err := db.Version(ctx, account); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
		if _, err := db.Version(t.Context(), account); err != nil {
			t.Errorf("others suffer from it: %v", err)
		}
	})
}
