package flags_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/signalbox/signalbox/client/jsonlogic"
	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func (h *fixture) version(t *testing.T) int64 {
	t.Helper()
	version, err := h.db.Version(t.Context(), h.owner.Account)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// watched is a store that keeps which flags were asked for; nil is all.
type watched struct {
	flags.Store
	asked *[][]string
}

type watchedTx struct {
	flags.ReadTx
	asked *[][]string
}

func (w watched) Read(ctx context.Context, fn func(context.Context, flags.ReadTx) error) error {
	return w.Store.Read(ctx, func(ctx context.Context, tx flags.ReadTx) error { return fn(ctx, watchedTx{tx, w.asked}) })
}

func (w watchedTx) FlagsByKey(ctx context.Context, account string, keys []string) ([]flags.Flag, error) {
	*w.asked = append(*w.asked, keys)
	return w.ReadTx.FlagsByKey(ctx, account, keys)
}

// node is the snapshots of a node, and its database.
type node struct {
	*flags.Snapshots
	db *store.DB
}

func newNode(db *store.DB) node {
	return node{&flags.Snapshots{Store: db.Flags(), History: db.After}, db}
}

// get returns the snapshot of an account at its current version.
func (n node) get(ctx context.Context, account string) (*flags.Snapshot, error) {
	version, err := n.db.Version(ctx, account)
	if err != nil {
		return nil, err
	}
	return n.Get(ctx, account, version)
}

// viewer is the snapshots of an account, with the calls that they made to the store.
type viewer struct {
	node
	fixture *fixture
	asked   [][]string
}

func newViewer(h *fixture) *viewer {
	v := &viewer{fixture: h}
	v.node = newNode(h.db)
	v.Store = watched{v.Store, &v.asked}
	return v
}

func (n node) evaluate(ctx context.Context, caller accounts.Caller, key string) (string, error) {
	snapshot, err := n.get(ctx, caller.Account)
	if err != nil {
		return "", err
	}
	return string(snapshot.Evaluate(nil, "production", key, jsonlogic.Value{}).Raw()), nil
}

// shows checks the values of flags, "" for those that do not exist, and the calls to the store that
// were needed.
func (v *viewer) shows(t *testing.T, want map[string]string, asked ...[]string) {
	t.Helper()
	v.asked = nil
	for key, value := range want {
		got, err := v.evaluate(t.Context(), v.fixture.owner, key)
		if err != nil {
			t.Fatal(err)
		}
		if got != value {
			t.Errorf("%s is %q, want %q", key, got, value)
		}
	}
	same(t, v.asked, asked)
}

func TestSnapshots_ReadOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		h.create(t, numeric("a", "1"))
		v := newViewer(h)
		v.shows(t, map[string]string{"a": "1", "b": ""}, nil)
		v.shows(t, map[string]string{"a": "1"}) // nothing changed, nothing is read
		h.create(t, numeric("b", "1"))
		v.shows(t, map[string]string{"a": "1", "b": "1"}, []string{"b"})
		h.replace(t, "a", numeric("a", "2"))
		h.replace(t, "b", numeric("b", "3"))
		v.shows(t, map[string]string{"a": "2", "b": "3"}, []string{"a", "b"})
		h.report(t, declared("c", "NUMERIC", "4", "s", "e"), declared("a", "NUMERIC", "9", "s", "e"), declared("d", "NUMERIC", "5", "s", "e"))
		v.shows(t, map[string]string{"a": "2", "c": "", "d": ""}, []string{"c", "d"}) // discovered flags are not served
		if err := h.Delete(t.Context(), h.owner, "a", nil); err != nil {
			t.Fatal(err)
		}
		v.shows(t, map[string]string{"a": "", "b": "3"}, []string{"a"})
		h.create(t, numeric("a", "6"))
		v.shows(t, map[string]string{"a": "6"}, []string{"a"})
		h.report(t, declared("c", "NUMERIC", "4", "s", "e")) // changes nothing that is evaluated
		v.shows(t, map[string]string{"a": "6"})
	})
}

// TestSnapshots_DiscoveredFlag: a flag is served from when somebody manages it until it is deleted.
func TestSnapshots_DiscoveredFlag(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		v := newViewer(h)
		managed := numeric("a", "2")
		managed.Managed = optional.Of(true)
		listed := func(want ...string) {
			t.Helper()
			snapshot, err := v.get(t.Context(), h.owner.Account)
			if err != nil {
				t.Fatal(err)
			}
			same(t, snapshot.Keys(), want)
			var loaded []string
			h.read(t, func(ctx context.Context, tx *store.ReadTx) error {
				found, err := flags.InEnvironment(ctx, tx, h.owner.Account, "production")
				for _, flag := range found {
					loaded = append(loaded, flag.Key)
				}
				return err
			})
			same(t, loaded, want)
		}
		h.report(t, declared("a", "NUMERIC", "1", "s", "e"))
		v.shows(t, map[string]string{"a": ""}, nil)
		listed()
		h.replace(t, "a", managed)
		v.shows(t, map[string]string{"a": "2"}, []string{"a"})
		listed("a")
		if err := h.Delete(t.Context(), h.owner, "a", nil); err != nil {
			t.Fatal(err)
		}
		h.report(t, declared("a", "NUMERIC", "1", "s", "e"))
		v.shows(t, map[string]string{"a": ""}, []string{"a", "a"})
		listed()
		if snapshot, _ := v.get(t.Context(), h.owner.Account); snapshot != nil {
			if _, found := snapshot.Flag("a"); !found {
				t.Error("nobody can ask what the discovered flag would serve")
			}
		}
	})
}

func TestSnapshots_GapInHistory(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		h.create(t, numeric("a", "1"))
		v := newViewer(h)
		v.shows(t, map[string]string{"a": "1"}, nil)
		raw := database.Raw(t)
		for round, condition := range []string{"seq = $2 + 1", "seq = $2 + 2", "seq = $2 + 3", "seq > $2", "seq <= $2"} {
			t.Run(condition, func(t *testing.T) {
				from := h.version(t)
				for i := range 3 {
					h.replace(t, "a", numeric("a", strconv.Itoa(10*round+i+10)))
				}
				if _, err := raw.ExecContext(t.Context(), "DELETE FROM changes WHERE account_id = $1 AND "+condition, h.owner.Account, from); err != nil {
					t.Fatal(err)
				}
				want := map[string]string{"a": string(h.get(t, "a").Default)}
				if condition == "seq <= $2" { // changes that the viewer has read may be missing
					v.shows(t, want, []string{"a", "a", "a"})
					return
				}
				v.shows(t, want, nil)
			})
		}
	})
}

func TestSnapshots_FarBehind(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "free")
	h.create(t, numeric("a", "1"))
	v := newViewer(h)
	v.shows(t, map[string]string{"a": "1"}, nil)
	h.race(t, racers, func(node *flags.Service, racer int) error {
		for i := range 20 {
			if _, err := node.Replace(t.Context(), h.owner, "a", numeric("a", strconv.Itoa(racer*20+i)), nil); err != nil {
				t.Error(err)
			}
		}
		return nil
	})
	v.shows(t, map[string]string{"a": string(h.get(t, "a").Default)}, nil)
}

func TestSnapshots_Forget(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		h.create(t, numeric("a", "1"))
		v := newViewer(h)
		v.Forget() // there is nothing to forget yet
		v.shows(t, map[string]string{"a": "1"}, nil)
		v.Forget()
		v.shows(t, map[string]string{"a": "1"}, nil)
		v.shows(t, map[string]string{"a": "1"})
	})
}

func TestSnapshots_AccountsShareNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		other := storetest.NewTenant(t, h.db, "free").Owner
		h.create(t, numeric("a", "1"))
		v := newViewer(h)
		v.shows(t, map[string]string{"a": "1"}, nil)
		if got, err := v.evaluate(t.Context(), other, "a"); err != nil || got != "" {
			t.Errorf("another account has %q, %v", got, err)
		}
		if _, err := v.get(t.Context(), "nobody"); err == nil {
			t.Error("an account that does not exist has a snapshot")
		}
	})
}

// Every writer owns a flag whose number only grows. A reader that begins after a write was
// acknowledged sees it or a later one, on every node, although another goroutine drops the
// snapshots all the time.
func TestSnapshots_NeverOlderThanAcknowledged(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		views := []node{newNode(h.db)}
		if database.Kind == "postgres" {
			views = append(views, newNode(database.Open(t)))
		}
		const writers, readers, writes = 4, 16, 40
		var acknowledged [writers]atomic.Int64
		var left atomic.Int64
		left.Store(writers)
		for i := range writers {
			h.create(t, numeric("f"+strconv.Itoa(i), "0"))
		}
		var running sync.WaitGroup
		for i := range writers {
			running.Go(func() {
				defer left.Add(-1)
				h.grow(t, i, writes, &acknowledged[i])
			})
		}
		for i := range readers {
			view := views[i%len(views)]
			running.Go(func() {
				for round := i; left.Load() > 0; round++ {
					if round%50 == 0 {
						view.Forget()
					}
					h.current(t, view, round%writers, &acknowledged[round%writers])
				}
			})
		}
		running.Wait()
		for i := range writers {
			for _, view := range views {
				h.current(t, view, i, &acknowledged[i])
			}
		}
	})
}

// grow writes 1, 2, 3 … to a flag, and lets a report discover another each time.
func (h *fixture) grow(t *testing.T, flag, writes int, acknowledged *atomic.Int64) {
	t.Helper()
	key := "f" + strconv.Itoa(flag)
	for i := 1; i <= writes; i++ {
		if _, err := h.Replace(t.Context(), h.owner, key, numeric(key, strconv.Itoa(i)), nil); err != nil {
			t.Error(err)
			return
		}
		acknowledged.Store(int64(i))
		if _, err := h.Report(t.Context(), h.owner, []flags.Declaration{declared(fmt.Sprint(key, "-", i), "NUMERIC", "0", "s", "e")}); err != nil {
			t.Error(err)
			return
		}
	}
}

// current checks that a snapshot is not older than the acknowledged writes.
func (h *fixture) current(t *testing.T, view node, flag int, acknowledged *atomic.Int64) {
	t.Helper()
	least := acknowledged.Load()
	snapshot, err := view.get(t.Context(), h.owner.Account)
	if err != nil {
		t.Error(err)
		return
	}
	text := string(snapshot.Evaluate(nil, "production", "f"+strconv.Itoa(flag), jsonlogic.Value{}).Raw())
	if got, err := strconv.ParseInt(text, 10, 64); err != nil || got < least {
		t.Errorf("f%d is %q, and %d was acknowledged", flag, text, least)
	}
	if _, discovered := snapshot.Flag(fmt.Sprintf("f%d-%d", flag, least-1)); least > 1 && !discovered {
		t.Errorf("what was discovered before f%d became %d is missing", flag, least)
	}
}
