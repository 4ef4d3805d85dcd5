package stream_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// delays makes changes one after the other, each with its own way to commit,
// and gives how long each took to every one of the peers, sorted.
func delays(t *testing.T, w *world, peers []*peer, rounds int, commit func(id string) error) []time.Duration {
	t.Helper()
	var all []time.Duration
	for i := range rounds {
		id := fmt.Sprint("f-", i)
		if err := commit(id); err != nil {
			t.Fatal(err)
		}
		committed := time.Now()
		for _, p := range peers {
			if got := p.next(); got.ID != id || got.Seq != w.head(t) {
				t.Fatalf("got %s, want %s", got.text, id)
			}
			all = append(all, time.Since(committed))
		}
	}
	slices.Sort(all)
	return all
}

// threeNodes are nodes on one PostgreSQL with a socket on each.
func threeNodes(t *testing.T, database storetest.Database, reach storetest.Database) (*world, []*peer) {
	t.Helper()
	w := newWorld(t, database)
	peers := []*peer{w.open(t, "")}
	for range 2 {
		other := *w
		other.Node = anotherNode(t, reach)
		peers = append(peers, other.open(t, ""))
	}
	for _, p := range peers {
		p.next()
	}
	return w, peers
}

func TestAnEventReachesTheSocketsOfAllNodes(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	w, peers := threeNodes(t, database, database)
	took := delays(t, w, peers, 50, func(id string) error { return w.write(t.Context(), flagChange(id)) })
	median, most := took[len(took)/2], took[len(took)-1]
	t.Logf("commit to socket on any of three nodes: median %s, max %s", median, most)
	if median > 50*time.Millisecond {
		t.Errorf("the median is %s", median)
	}
}

// A notification may be lost: a cut connection, or PgBouncer in transaction
// mode, behind which nobody ever hears one.
func TestAnEventArrivesWithoutNotification(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	w, peers := threeNodes(t, database, database)
	raw := database.Raw(t)
	took := delays(t, w, peers, 10, func(id string) error {
		// What the store writes, without telling anybody.
		_, err := raw.ExecContext(t.Context(), `WITH numbered AS (UPDATE accounts SET change_seq = change_seq + 1 WHERE id = $1 RETURNING change_seq)
			INSERT INTO changes (account_id, seq, kind, key, action, actor_type, actor_id, actor_name, created_at)
			SELECT $1, change_seq, 'flag', $2, 'updated', '', '', '', $3 FROM numbered`, w.account, id, time.Now().UnixMicro())
		return err
	})
	median, most := took[len(took)/2], took[len(took)-1]
	t.Logf("commit to socket without notification: median %s, max %s", median, most)
	if median > 2*time.Second {
		t.Errorf("the median is %s", median)
	}
}

func TestAnOutageOfTheDatabaseDelaysEventsAndLosesNone(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	through, proxy := database.ThroughProxy(t)
	w, peers := threeNodes(t, database, through)
	write := func(ctx context.Context, id string) error {
		return w.write(ctx, changes.Change{Kind: "flag", Key: id, Action: changes.Updated})
	}
	for i, disturb := range []func(){proxy.Cut, proxy.Down, proxy.Up, proxy.Cut, func() {}} {
		disturb()
		if err := write(t.Context(), fmt.Sprint("f-", i)); err != nil {
			t.Fatal(err)
		}
	}
	head := w.head(t)
	for _, p := range peers {
		for i := range 5 {
			p.expect(event("flag_changed", fmt.Sprint("f-", i), head-4+int64(i)))
		}
	}
}
