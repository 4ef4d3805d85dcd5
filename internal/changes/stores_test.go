package changes_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// journal records the changes that a feed passes on, and notices repeated, unordered and
// missing ones.
type journal struct {
	mu   sync.Mutex
	last map[string]int64
	bad  []string
}

func (j *journal) receive(change changes.Change) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if change.Seq != j.last[change.Account]+1 {
		j.bad = append(j.bad, fmt.Sprintf("%s: after %d came %d", change.Account, j.last[change.Account], change.Seq))
	}
	j.last[change.Account] = change.Seq
}

// reached reports whether every change up to the heads was passed on.
func (j *journal) reached(heads map[string]int64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Equal(j.last, heads)
}

// node opens a database and starts a server's feed on it.
func node(t *testing.T, database storetest.Database) (*store.DB, *journal) {
	t.Helper()
	db := database.Open(t)
	heads, err := db.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	journal := &journal{last: heads}
	feed := changes.NewFeed(db, slog.New(slog.DiscardHandler), 50*time.Millisecond)
	feed.Subscribe(journal.receive)
	db.OnChange(feed.Wake)
	listener := db.NewListener(feed.Wake)
	if err := feed.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	listener.Start(t.Context())
	t.Cleanup(feed.Stop)
	t.Cleanup(listener.Stop)
	return db, journal
}

func (j *journal) expect(t *testing.T, db *store.DB) {
	t.Helper()
	heads, err := db.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	storetest.Wait(t, 20*time.Second, "every change was passed on", func() bool { return j.reached(heads) })
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, each := range j.bad {
		t.Error(each)
	}
}

// write makes many writers on both nodes record changes in several accounts. Some writers roll
// back.
func write(t *testing.T, nodes []*store.DB, accounts []string) {
	t.Helper()
	var writers sync.WaitGroup
	for i := range 32 {
		writers.Go(func() {
			for j := range 5 {
				account := accounts[(i+j)%len(accounts)]
				_ = nodes[i%len(nodes)].Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
					for range 1 + i%3 {
						if err := tx.RecordChanges(ctx, account, changes.Change{Kind: "flag", Key: fmt.Sprint(i, j)}); err != nil {
							return err
						}
					}
					if j == 3 {
						return errBroken
					}
					return nil
				})
			}
		})
	}
	writers.Wait()
}

func TestFeed_TwoNodesGetEveryChangeOnceInOrder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		first, firstJournal := node(t, database)
		second, secondJournal := node(t, database)
		accounts := []string{
			storetest.NewTenant(t, first, "pro").Account.ID,
			storetest.NewTenant(t, second, "pro").Account.ID,
			storetest.NewTenant(t, first, "pro").Account.ID,
		}
		write(t, []*store.DB{first, second}, accounts)
		firstJournal.expect(t, first)
		secondJournal.expect(t, first)
	})
}

func TestFeed_DatabaseOutageLosesNothing(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	through, proxy := database.ThroughProxy(t)
	writer := database.Open(t)
	reader, journal := node(t, through)
	accounts := []string{storetest.NewTenant(t, reader, "pro").Account.ID}
	proxy.Down()
	write(t, []*store.DB{writer}, accounts)
	proxy.Up()
	write(t, []*store.DB{writer}, accounts)
	proxy.Cut()
	write(t, []*store.DB{writer, reader}, accounts)
	journal.expect(t, writer)
}

func TestFeed_ContinuesAfterRetention(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		heads, err := db.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var got []int64
		feed := changes.NewFeed(db, slog.New(slog.DiscardHandler), time.Hour)
		feed.Subscribe(func(change changes.Change) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, change.Seq)
		})
		if err := feed.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(feed.Stop)
		write(t, []*store.DB{db}, []string{account})
		if _, err := database.Raw(t).ExecContext(t.Context(), `DELETE FROM changes`); err != nil {
			t.Fatal(err)
		}
		feed.Wake("")
		db.OnChange(feed.Wake)
		write(t, []*store.DB{db}, []string{account})
		after, err := db.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		storetest.Wait(t, 20*time.Second, "the last change was passed on", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(got) > 0 && got[len(got)-1] == after[account]
		})
		if heads[account] >= got[0] {
			t.Errorf("%d is history", got[0])
		}
	})
}
