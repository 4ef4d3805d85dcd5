package logging_test

import (
	"encoding/json"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// clock is a time that tests move.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *clock) move(by time.Duration) { c.ahead.Add(int64(by)) }

func (c *clock) set(options *store.Options) { options.Now = c.now }

// expiring is a draft whose base level, and override for production, expire.
func expiring(base, override float64) logging.Draft {
	draft := level("DEBUG")
	draft.Base.TTLSeconds = optional.Of(base)
	draft.Environments = map[string]logging.OverrideDraft{"production": {Level: optional.Of("TRACE"), TTLSeconds: optional.Of(override)}}
	return draft
}

func expire(t *testing.T, expirer *logging.Expirer) time.Duration {
	t.Helper()
	wait, err := expirer.Expire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return wait
}

func newExpirer(db *store.DB) *logging.Expirer {
	return logging.NewExpirer(db.Logging(), slog.New(slog.DiscardHandler))
}

func TestALevelGoesBackByItself(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		var watch clock
		h := newHouse(t, database, "free", watch.set)
		expirer := newExpirer(h.db)
		h.replace(t, "l", expiring(60, 30))
		same(t, expire(t, expirer), time.Second) // nothing is due for long
		watch.move(31 * time.Second)
		expire(t, expirer)
		view := h.get(t, "l")
		same(t, [3]any{view.Level, len(view.Environments), view.Managed}, [3]any{loglevel.Debug, 0, true})
		watch.move(30 * time.Second)
		expire(t, expirer)
		view = h.get(t, "l")
		same(t, [3]any{view.Level, view.LevelExpiresAt, view.Managed}, [3]any{loglevel.None, (*time.Time)(nil), false})
		same(t, h.managed(t), 0)
		expire(t, expirer)
		history := h.history(t, logging.Kind)
		same(t, len(history), 3)
		for _, change := range history[1:] {
			same(t, [4]string{string(change.Action), change.Key, change.Actor.Type, change.Event()},
				[4]string{string(changes.Expired), "l", changes.ActorSystem, "logger_changed"})
		}
		same(t, string(history[1].After), string(history[2].Before))
		var document map[string]any
		same(t, json.Unmarshal(history[2].Before, &document), nil)
		same(t, document["level"], any("DEBUG"))
	})
}

func TestAGroupsLevelGoesBackByItself(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		var watch clock
		h := newHouse(t, database, "free", watch.set)
		draft := logging.GroupDraft{Key: optional.Of("g"), LevelsDraft: expiring(1, 60).LevelsDraft}
		if _, err := h.CreateGroup(t.Context(), h.owner, draft); err != nil {
			t.Fatal(err)
		}
		watch.move(2 * time.Second)
		expire(t, newExpirer(h.db))
		group, err := h.Group(t.Context(), h.owner, "g")
		if err != nil {
			t.Fatal(err)
		}
		same(t, [2]any{group.Level, len(group.Environments)}, [2]any{loglevel.None, 1})
		history := h.history(t, logging.KindGroup)
		same(t, [2]string{string(history[1].Action), history[1].Event()}, [2]string{string(changes.Expired), "group_changed"})
	})
}

// One that was changed or deleted in time does not expire; one that was only
// repeated does.
func TestWhatWasChangedInTimeDoesNotExpire(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		var watch clock
		h := newHouse(t, database, "free", watch.set)
		h.replace(t, "changed", expiring(10, 10))
		h.replace(t, "changed", level("WARN"))
		h.replace(t, "repeated", expiring(10, 10))
		h.replace(t, "repeated", level("DEBUG"))
		h.replace(t, "deleted", expiring(10, 10))
		if err := h.Delete(t.Context(), h.owner, "deleted", nil); err != nil {
			t.Fatal(err)
		}
		watch.move(11 * time.Second)
		expire(t, newExpirer(h.db))
		same(t, h.get(t, "changed").Level, loglevel.Warn)
		same(t, h.get(t, "repeated").Level, loglevel.None)
		same(t, len(h.history(t, logging.Kind)), 7)
	})
}

// Many nodes look at the same time; every expiry leaves one change.
func TestAnExpiryFiresOnceHoweverManyNodesRun(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		var watch clock
		h := newHouse(t, database, "pro", watch.set)
		const count = 250 // more than one look is about
		for i := range count {
			h.replace(t, "l"+strconv.Itoa(i), expiring(10, 10))
		}
		nodes := []*store.DB{h.db, h.db, h.db}
		if database.Kind == "postgres" {
			nodes = []*store.DB{h.db, database.Open(t, watch.set), database.Open(t, watch.set)}
		}
		watch.move(11 * time.Second)
		var running sync.WaitGroup
		for _, db := range nodes {
			running.Go(func() {
				if _, err := newExpirer(db).Expire(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		running.Wait()
		expire(t, newExpirer(h.db))
		fired := map[string]int{}
		for _, change := range h.history(t, logging.Kind) {
			if change.Action == changes.Expired {
				fired[change.Key]++
			}
		}
		same(t, len(fired), count)
		for key, times := range fired {
			if times != 1 {
				t.Errorf("%s expired %d times", key, times)
			}
		}
		same(t, h.managed(t), 0)
	})
}

// The loop itself, on the real clock: woken by a write, it is on time, and
// after a restart it removes what came due while nothing ran.
func TestTheExpirerIsPunctualAndSurvivesARestart(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newHouse(t, database, "free")
		first := newExpirer(h.db)
		first.Start(t.Context())
		h.replace(t, "l", expiring(1, 1))
		for _, change := range h.history(t, logging.Kind) {
			first.Hear(change)
		}
		due := *h.get(t, "l").LevelExpiresAt
		storetest.Wait(t, 10*time.Second, "the level is removed", func() bool { return !h.get(t, "l").Managed })
		if late := h.get(t, "l").UpdatedAt.Sub(due); late < 0 || late > time.Second {
			t.Errorf("it was %s late", late)
		}
		first.Stop()
		h.replace(t, "m", expiring(1, 1))
		second := newExpirer(h.db)
		second.Start(t.Context())
		storetest.Wait(t, 10*time.Second, "the level is removed", func() bool { return !h.get(t, "m").Managed })
		second.Stop()
		newExpirer(h.db).Stop() // one that never started
	})
}

// An outage is survived: what is due then is removed afterwards.
func TestTheExpirerOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	broken := database.Open(t)
	if err := broken.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := newExpirer(broken).Expire(t.Context()); err == nil {
		t.Error("a closed database is no problem")
	}
	expirer := newExpirer(broken)
	expirer.Start(t.Context())
	expirer.Hear(changes.Change{Kind: "flag"})
	expirer.Hear(changes.Change{Kind: logging.Kind})
	expirer.Hear(changes.Change{Kind: logging.KindGroup})
	expirer.Stop()
}
