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

// delay commits changes one after the other. It returns the median times of a commit, and from there until all peers have
// received the change.
func delay(t *testing.T, n *testNode, peers []*peer, rounds int, commit func(id string) error) (commits, events time.Duration) {
	t.Helper()
	var all, writes []time.Duration
	for i := range rounds {
		id := fmt.Sprint("f-", i)
		began := time.Now()
		if err := commit(id); err != nil {
			t.Fatal(err)
		}
		committed := time.Now()
		writes = append(writes, committed.Sub(began))
		var received []message
		for _, p := range peers {
			received = append(received, p.next())
			all = append(all, time.Since(committed))
		}
		for head := n.head(t); len(received) > 0; received = received[1:] {
			if got := received[0]; got.ID != id || got.Seq != head {
				t.Fatalf("got %s, want %s", got.text, id)
			}
		}
	}
	slices.Sort(all)
	slices.Sort(writes)
	t.Logf("median %s, max %s, median of the commits %s", all[len(all)/2], all[len(all)-1], writes[len(writes)/2])
	return writes[len(writes)/2], all[len(all)/2]
}

// threeNodes starts nodes on one PostgreSQL database, and opens a socket on each.
func threeNodes(t *testing.T, database storetest.Database, reach storetest.Database) (*testNode, []*peer) {
	t.Helper()
	n := newTestNode(t, database)
	peers := []*peer{n.open(t, "")}
	for range 2 {
		other := *n
		other.Node = anotherNode(t, reach)
		other.awaitReady(t) // on a busy machine, its clock may not be compared yet
		peers = append(peers, other.open(t, ""))
	}
	for _, p := range peers {
		p.next()
	}
	return n, peers
}

func TestNodes_EventReachesAll(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	w, peers := threeNodes(t, database, database)
	const usual = 2 * time.Millisecond // of a commit; it takes longer beside other programs
	atBest(t, 50*time.Millisecond, func() time.Duration {
		commits, events := delay(t, w, peers, 20, func(id string) error { return w.write(t.Context(), flagChange(id)) })
		return time.Duration(float64(events) / max(1, float64(commits)/float64(usual)))
	})
}

// A notification may be lost: the connection may be cut, and PgBouncer in transaction mode
// drops all notifications.
func TestNodes_WithoutNotification(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	w, peers := threeNodes(t, database, database)
	raw := database.Raw(t)
	silently := func(id string) error {
		// This writes the same rows as the store, without the notification.
		_, err := raw.ExecContext(t.Context(), `WITH numbered AS (UPDATE accounts SET change_seq = change_seq + 1 WHERE id = $1 RETURNING change_seq)
			INSERT INTO changes (account_id, seq, kind, key, action, actor_type, actor_id, actor_name, created_at)
			SELECT $1, change_seq, 'flag', $2, 'updated', '', '', '', $3 FROM numbered`, w.account, id, time.Now().UnixMicro())
		return err
	}
	atBest(t, 2*time.Second, func() time.Duration {
		_, events := delay(t, w, peers, 3, silently)
		return events
	})
}

func TestNodes_OutageLosesNothing(t *testing.T) {
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
