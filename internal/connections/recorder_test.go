package connections_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/connections"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/transaction"
)

// node is a recorder on a real database. The test decides which sockets are open.
type node struct {
	connections.Recorder
	db      *store.DB
	account string
	open    []*connections.Connection
	seq     int64
	writes  int
	broken  error
}

// Write counts transactions, and fails if broken is set.
func (n *node) Write(ctx context.Context, account string, fn func(context.Context, connections.Tx) error) error {
	n.writes++
	if n.broken != nil {
		return n.broken
	}
	return n.db.Connections().ForObservations().Write(ctx, account, fn)
}

func newNode(t *testing.T, database storetest.Database) *node {
	t.Helper()
	n := &node{db: database.Open(t)}
	n.account = storetest.NewTenant(t, n.db, "pro").Owner.Account
	n.Recorder = connections.Recorder{Store: transaction.Writer[connections.Tx](n), Boot: "boot", Node: "node", Log: slog.New(slog.DiscardHandler),
		Each: func(visit func(*connections.Connection, int64)) {
			for _, each := range n.open {
				visit(each, n.seq)
			}
		}}
	n.beat(t)
	return n
}

func (n *node) beat(t *testing.T) {
	t.Helper()
	if err := n.db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error { return tx.Beat(ctx, "boot", "node") }); err != nil {
		t.Fatal(err)
	}
}

func (n *node) connect(count int) {
	for i := range count {
		peer := connections.Peer{Service: new(fmt.Sprint("service-", i)), Client: "test/1"}
		n.open = append(n.open, connections.New(n.account, peer, time.Now()))
	}
}

// listed returns all connections of the account.
func (n *node) listed(t *testing.T) (all []connections.Connection) {
	t.Helper()
	service := connections.Service{Store: n.db.Connections()}
	for after, more := "", true; more; {
		tail, err := service.Connections(t.Context(), accounts.Caller{Account: n.account}, page.Cursor{After: after, Size: page.MaxSize})
		if err != nil {
			t.Fatal(err)
		}
		if all, more = append(all, tail.Items...), tail.More; more {
			after = all[len(all)-1].ID
		}
	}
	return all
}

// TestRecorder_FewTransactions: a fleet that connects and leaves costs one transaction per 500
// sockets. Without news there is no transaction.
func TestRecorder_FewTransactions(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		n := newNode(t, database)
		n.connect(10_000)
		n.Record(t.Context())
		if got := len(n.listed(t)); got != 10_000 || n.writes != 20 {
			t.Errorf("%d are listed after %d transactions", got, n.writes)
		}
		n.Record(t.Context())
		kept := n.open[0]
		n.open = n.open[:1]
		n.Record(t.Context())
		if got := n.listed(t); len(got) != 1 || got[0].ID != kept.ID || got[0].Node != "node" || *got[0].Service != "service-0" || n.writes != 40 {
			t.Errorf("%+v are listed after %d transactions", got, n.writes)
		}
	})
}

func TestRecorder_Seq(t *testing.T) {
	t.Parallel()
	n := newNode(t, storetest.New(t, "sqlite"))
	n.connect(2)
	n.Record(t.Context())
	n.seq = 7
	for range 10 {
		n.Record(t.Context())
	}
	if got := n.listed(t); len(got) != 2 || got[0].Seq != 7 || got[1].Seq != 7 {
		t.Errorf("got %+v", got)
	}
}

// TestRecorder_NodeReturns: other nodes considered the node lost and removed its rows.
func TestRecorder_NodeReturns(t *testing.T) {
	t.Parallel()
	n := newNode(t, storetest.New(t, "sqlite"))
	n.connect(3)
	n.Record(t.Context())
	var nodes []string
	err := n.db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error {
		found, err := tx.Nodes(ctx)
		if err != nil {
			return err
		}
		for _, each := range found {
			nodes = append(nodes, each.Boot)
			if _, err := tx.GiveUp(ctx, each); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !slices.Contains(nodes, "boot") || len(n.listed(t)) != 0 {
		t.Fatalf("%v live, %d connections are listed, %v", nodes, len(n.listed(t)), err)
	}
	if err := n.db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error { return tx.RemoveLostConnections(ctx, 500) }); err != nil {
		t.Fatal(err)
	}
	n.beat(t)
	for range 10 {
		n.Record(t.Context())
	}
	if got := len(n.listed(t)); got != 3 {
		t.Errorf("%d connections are listed", got)
	}
	n.Stop(t.Context())
	if got := len(n.listed(t)); got != 0 {
		t.Errorf("%d connections are listed of a node that stopped", got)
	}
}

func TestRecorder_Outage(t *testing.T) {
	t.Parallel()
	n := newNode(t, storetest.New(t, "sqlite"))
	n.connect(1)
	n.broken = errors.New("away")
	for range 15 {
		n.Record(t.Context())
	}
	n.connect(1)
	n.open = n.open[1:]
	n.broken = nil
	n.Record(t.Context())
	if got := n.listed(t); len(got) != 1 || got[0].ID != n.open[0].ID {
		t.Errorf("got %+v", got)
	}
}

func TestNew_Client(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"": "", "curl/8": "curl/8", "a\tb\x00c": "abc", "a\u202eb\u009bc": "abc", "\xff\xfe": "", strings.Repeat("é", 200): strings.Repeat("é", 127),
	} {
		t.Run(fmt.Sprintf("%.40q", sent), func(t *testing.T) {
			if got := connections.New("a", connections.Peer{Client: sent}, time.Now()).Client; got != want {
				t.Errorf("%q became %q", sent, got)
			}
		})
	}
}
