package live

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
)

// switched returns a snapshot whose flag "switch" is on or off after a change; stale marks it as sent from a
// node's memory.
func switched(seq int64, on, stale bool) signalbox.Snapshot {
	value := "false"
	if on {
		value = "true"
	}
	made := snapshotOf(map[string]flageval.Definition{"switch": {Type: flageval.Boolean, Default: []byte(value)}})
	made.ID, made.Seq = "production", seq
	if stale {
		made.StaleSince = new(time.Now().Add(-time.Minute))
	}
	return made
}

func (s *bubbleServer) serve(snapshot signalbox.Snapshot, etag string) {
	s.change(func() { s.snapshot, s.etag = snapshot, etag })
}

// is checks the value of the switch and the state of the box.
func (b *Box) is(t *testing.T, when string, on bool, seq int64, status Status) {
	t.Helper()
	if got, state := b.Bool("switch", !on).Get(t.Context()), b.State(); got != on || state.Seq != seq || state.Status != status {
		t.Errorf("%s: the switch is %v after change %d, %s; want %v, %d, %s", when, got, state.Seq, state, on, seq, status)
	}
}

// TestBox_StaleNeverGoesBack: a switch that was turned off stays off when a node loses its database and answers with an
// older state from memory. The state of a database that was restored is used.
func TestBox_StaleNeverGoesBack(t *testing.T) {
	t.Parallel()
	for name, blocked := range map[string]bool{"with a socket": false, "polling": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := startBubbleServer(t, switched(100, false, false))
				server.noSocket = blocked
				box, err := Start(t.Context(), server.options()...)
				if err != nil {
					t.Fatal(err)
				}
				defer box.Close(context.WithoutCancel(t.Context()))
				pass(time.Second)
				box.is(t, "at the start", false, 100, Live)
				server.setAway(true)
				server.setAway(false)
				server.serve(switched(90, true, true), "")
				pass(5 * time.Minute)
				box.is(t, "with an older node", false, 100, Stale)
				server.serve(switched(101, true, true), "")
				pass(5 * time.Minute)
				box.is(t, "with a node that heard of a later change", true, 101, Stale)
				server.serve(switched(90, false, false), "")
				pass(5 * time.Minute)
				box.is(t, "with a restored database", false, 90, Live)
			})
		})
	}
}

// TestBox_StaleAgainstCache: an answer from memory replaces neither newer values in memory nor newer values from disk. It
// replaces the values of a bootstrap file, which may be of any account.
func TestBox_StaleAgainstCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, kept := startBubbleServer(t, switched(100, false, false)), WithCacheDir(t.TempDir())
		server.noSocket = true
		start := func(options ...Option) *Box {
			t.Helper()
			box, err := Start(t.Context(), server.options(options...)...)
			if err != nil {
				t.Fatal(err)
			}
			pass(time.Second)
			return box
		}
		cached := func(s *settings) { s.noCache = false }
		first := start(kept, cached)
		first.Close(t.Context())
		server.serve(switched(90, true, true), "")
		second := start(kept, cached)
		second.is(t, "from the cache", false, 100, Stale)
		second.Close(t.Context())
		text, err := json.Marshal(switched(100, false, false))
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "bootstrap.json")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		third := start(WithBootstrap(file))
		third.is(t, "from a bootstrap file", true, 90, Stale)
		third.Close(t.Context())
	})
}

// TestBox_PartialLoadStale: the same for a load of levels alone.
func TestBox_PartialLoadStale(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		levels := func(level string, seq int64) signalbox.Snapshot {
			made := temporary(time.Now().Add(time.Hour))
			made.Seq = seq
			if level == "" {
				made.Loggers = nil
			}
			return made
		}
		server := startBubbleServer(t, levels("DEBUG", 100))
		box := server.box(t)
		read := levelsOf(box)
		before := read()
		stale := levels("", 90)
		stale.StaleSince = new(time.Now())
		server.serve(stale, "")
		client, err := box.settings.client()
		if err != nil {
			t.Fatal(err)
		}
		follower := &syncer{box: box, client: client, timing: box.settings.timing, pending: newWork(), wake: newBell()}
		if err := follower.refresh(t.Context(), work{whole: parts{levels: true}}); err == nil {
			t.Error("the stale answer is no error")
		}
		if after := read(); after != before || box.State().Seq != 100 {
			t.Errorf("the levels are %s after change %d, want %s", after, box.State().Seq, before)
		}
	})
}

// TestBox_UnmodifiedMovesSeq: a server that has nothing new for the service says how far the account is.
func TestBox_UnmodifiedMovesSeq(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := startBubbleServer(t, switched(100, false, false))
		server.noSocket, server.etag = true, `"one"`
		box, err := Start(t.Context(), server.options()...)
		if err != nil {
			t.Fatal(err)
		}
		defer box.Close(context.WithoutCancel(t.Context()))
		pass(time.Second)
		server.serve(switched(120, false, false), `"one"`)
		pass(5 * time.Minute)
		box.is(t, "after changes of others", false, 120, Live)
		server.serve(switched(110, true, true), `"two"`)
		pass(5 * time.Minute)
		box.is(t, "with a node that is behind", false, 120, Stale)
		server.serve(switched(120, false, true), `"one"`)
		pass(5 * time.Minute)
		box.is(t, "with a node that has the same in memory", false, 120, Stale)
		server.serve(switched(121, false, false), `"one"`)
		pass(5 * time.Minute)
		box.is(t, "in the end", false, 121, Live)
		if server.unmodified < 3 {
			t.Errorf("%d answers said that nothing is new", server.unmodified)
		}
	})
}
