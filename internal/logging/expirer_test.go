package logging_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// clock is a clock that tests move.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *clock) move(by time.Duration) { c.ahead.Add(int64(by)) }

func (c *clock) set(options *store.Options) { options.Now = c.now }

// expiring returns a draft whose base level and override for production expire after the given
// seconds.
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

func TestExpirer_Logger(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		var watch clock
		h := newFixture(t, database, "free", watch.set)
		expirer := newExpirer(h.db)
		h.replace(t, "l", expiring(60, 30))
		same(t, expire(t, expirer), time.Second) // the next expiry is far away
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

// While the clock is wrong no level expires, even if it becomes wrong after the due levels were
// read.
func TestExpirer_Paused(t *testing.T) {
	t.Parallel()
	var watch clock
	h := newFixture(t, storetest.New(t, "sqlite"), "free", watch.set)
	h.replace(t, "l", expiring(60, 30))
	watch.move(time.Hour)
	for right := range 2 { // how often the clock is checked before it becomes wrong
		expirer, asked := newExpirer(h.db), 0
		expirer.Paused = func() bool { asked++; return asked > right }
		same(t, expire(t, expirer), time.Second)
		same(t, asked, right+1)
		same(t, h.get(t, "l").Level, loglevel.Debug)
	}
	expire(t, newExpirer(h.db))
	same(t, h.get(t, "l").Level, loglevel.None)
}

func TestExpirer_Group(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		var watch clock
		h := newFixture(t, database, "free", watch.set)
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

// A level that is changed or deleted before its expiry does not expire. A level that is only
// sent again still expires.
func TestExpirer_LevelChangedInTime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		var watch clock
		h := newFixture(t, database, "free", watch.set)
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

// Many nodes look for due levels at the same time. Every expiry is recorded as one change.
func TestExpirer_SeveralNodesFireOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		var watch clock
		h := newFixture(t, database, "pro", watch.set)
		const count = 250 // more than one batch
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

// The loop runs on the real clock: a write wakes it, so that it is on time. After a restart it
// removes the levels that became due meanwhile.
func TestExpirer_PunctualAfterRestart(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		first := newExpirer(h.db)
		first.Start(t.Context())
		late := time.Hour
		for i := 0; i < 5 && late > time.Second; i++ { // a busy machine may be late, but not five times
			late = min(late, h.lateness(t, first, "l"+strconv.Itoa(i)))
		}
		if late > time.Second {
			t.Errorf("it was %s late", late)
		}
		first.Stop()
		h.replace(t, "m", expiring(1, 1))
		second := newExpirer(h.db)
		second.Start(t.Context())
		storetest.Wait(t, soon, "the level is removed", func() bool { return !h.get(t, "m").Managed })
		second.Stop()
		newExpirer(h.db).Stop() // stopping an Expirer that was never started works
	})
}

// lateness sets a level for one second, tells an Expirer about it, and returns how late the
// level is removed.
func (h *fixture) lateness(t *testing.T, expirer *logging.Expirer, key string) time.Duration {
	t.Helper()
	due := *h.replace(t, key, expiring(1, 1)).LevelExpiresAt
	for _, change := range h.history(t, logging.Kind) {
		expirer.Hear(change)
	}
	storetest.Wait(t, soon, "the level is removed", func() bool { return !h.get(t, key).Managed })
	late := h.get(t, key).UpdatedAt.Sub(due)
	if late < 0 {
		t.Errorf("it was removed %s before its time", -late)
	}
	return late
}

// A level that becomes due during a database outage is removed after the outage.
func TestExpirer_Outage(t *testing.T) {
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

// stuck is a store that fails to write one account.
type stuck struct {
	logging.Store
	account string
}

func (s stuck) Write(ctx context.Context, account string, fn func(context.Context, logging.Tx) error) error {
	if account == s.account {
		return fault.New(fault.Unavailable, "Not now.")
	}
	return s.Store.Write(ctx, account, fn)
}

// An account that cannot be written and has more than a batch of due levels does not delay the
// expiries of others.
func TestExpirer_AccountsAreIndependent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		var watch clock
		h := newFixture(t, database, "pro", watch.set)
		other := &fixture{Service: h.Service, database: database, db: h.db, owner: storetest.NewTenant(t, h.db, "pro").Owner}
		past := watch.now().UTC().Truncate(time.Microsecond)
		var due []logging.Logger
		for i := range 450 {
			due = append(due, logging.Logger{Key: strconv.Itoa(i), Levels: logging.Levels{Level: loglevel.Debug, LevelExpiresAt: &past}, Managed: true})
		}
		h.save(t, due...)
		other.replace(t, "l", expiring(1, 1))
		watch.move(2 * time.Second)
		expirer := logging.NewExpirer(stuck{h.db.Logging(), h.owner.Account}, slog.New(slog.DiscardHandler))
		if _, err := expirer.Expire(t.Context()); !fault.Is(err, fault.Unavailable) {
			t.Errorf("got %v", err)
		}
		same(t, other.get(t, "l").Managed, false)
		same(t, h.managed(t), 450)
		expire(t, newExpirer(h.db))
		same(t, h.managed(t), 0)
	})
}

// locked is a store without a database. One account is locked forever; for the others it counts
// the writes.
type locked struct {
	logging.Store
	account string
	writes  atomic.Int64
}

type lockedTx struct {
	logging.Tx
	due []logging.Expiring
}

func (tx lockedTx) Now() time.Time { return time.Now() }

func (tx lockedTx) ExpiringLevels(_ context.Context, except []string, _ int) (due []logging.Expiring, err error) {
	for _, each := range tx.due {
		if !slices.Contains(except, each.Account) {
			due = append(due, each)
		}
	}
	return due, nil
}

func (lockedTx) LoggersByKey(context.Context, string, []string) ([]logging.Logger, error) {
	return nil, nil
}

func (lockedTx) LogGroupsByKey(context.Context, string, []string) ([]logging.Group, error) {
	return nil, nil
}

func (lockedTx) SaveLoggers(context.Context, []logging.Logger) error   { return nil }
func (lockedTx) CreateLoggers(context.Context, []logging.Logger) error { return nil }
func (lockedTx) SaveLogGroups(context.Context, []logging.Group) error  { return nil }

func (s *locked) Read(ctx context.Context, fn func(context.Context, logging.ReadTx) error) error {
	var due []logging.Expiring
	for i := range 10 {
		due = append(due, logging.Expiring{Account: strconv.Itoa(i), Kind: logging.Kind, Key: "l", At: time.Now()})
	}
	return fn(ctx, lockedTx{due: due})
}

func (s *locked) Write(ctx context.Context, account string, fn func(context.Context, logging.Tx) error) error {
	if account == s.account {
		<-ctx.Done()
		return ctx.Err()
	}
	s.writes.Add(1)
	return fn(ctx, lockedTx{})
}

// The Expirer waits a few seconds for a locked account, without delaying other accounts.
func TestExpirer_LockedAccount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, began := &locked{account: "0"}, time.Now()
		_, err := logging.NewExpirer(store, slog.New(slog.DiscardHandler)).Expire(t.Context())
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 5*time.Second || store.writes.Load() < 9 {
			t.Errorf("%v after %s, %d others were written", err, took, store.writes.Load())
		}
	})
}
