package logging_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// spy is a store that lets a test observe and disturb reads.
type spy struct {
	logging.Store
	// probed receives how many loggers are looked up by key. then is called after each such
	// lookup.
	probed func(keys int)
	then   func()
}

func (s spy) Snapshot(ctx context.Context, fn func(context.Context, logging.ReadTx) error) error {
	return s.Store.Snapshot(ctx, func(ctx context.Context, tx logging.ReadTx) error { return fn(ctx, spyReadTx{tx, s}) })
}

func (s spy) Write(ctx context.Context, account string, fn func(context.Context, logging.Tx) error) error {
	return s.Store.Write(ctx, account, func(ctx context.Context, tx logging.Tx) error { return fn(ctx, blindTx{tx}) })
}

type spyReadTx struct {
	logging.ReadTx
	spy
}

func (tx spyReadTx) LoggersByKey(ctx context.Context, account string, keys []string) ([]logging.Logger, error) {
	if tx.probed != nil {
		tx.probed(len(keys))
	}
	found, err := tx.ReadTx.LoggersByKey(ctx, account, keys)
	if tx.then != nil {
		tx.then()
	}
	return found, err
}

// blindTx is a transaction that fails to read sources.
type blindTx struct{ logging.Tx }

var errBlind = errors.New("sources are read under the lock")

func (blindTx) NewestSources(context.Context, string, []string, int) ([]logging.Source, error) {
	return nil, errBlind
}

func (blindTx) LevelsSeen(context.Context, string, []string, int) ([]logging.LevelSeen, error) {
	return nil, errBlind
}

// environments adds unmanaged environments.
func (h *fixture) environments(t *testing.T, keys ...string) {
	t.Helper()
	h.write(t, func(ctx context.Context, tx *store.Tx) error {
		for _, key := range keys {
			if err := tx.InsertEnvironments(ctx, environments.Environment{Account: h.owner.Account, Key: key, Name: key}); err != nil {
				return err
			}
		}
		return nil
	})
}

// save writes loggers without checking the rules.
func (h *fixture) save(t *testing.T, loggers ...logging.Logger) {
	t.Helper()
	for i := range loggers {
		loggers[i].Account, loggers[i].Name = h.owner.Account, loggers[i].Key
		if loggers[i].Environments == nil {
			loggers[i].Environments = map[string]logging.Override{}
		}
	}
	for batch := range slices.Chunk(loggers, 1000) {
		h.write(t, func(ctx context.Context, tx *store.Tx) error { return tx.SaveLoggers(ctx, batch) })
	}
}

func shownIn(levels map[string]logging.Resolved) string {
	return strings.Join(slices.Sorted(maps.Keys(levels)), " ")
}

// A list shows the levels in managed environments and in environments where an override can
// apply. A single logger shows all.
func TestLoggers_LevelsThatCanDiffer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		h.environments(t, "f1", "f2", "f3", "f4", "reported")
		frozen := func(environment string) logging.Levels {
			return logging.Levels{Environments: map[string]logging.Override{environment: {Level: loglevel.Fatal}, "gone": {Level: loglevel.Fatal}}}
		}
		h.write(t, func(ctx context.Context, tx *store.Tx) error {
			return tx.SaveLogGroups(ctx, []logging.Group{{Account: h.owner.Account, Key: "g", Name: "g", Levels: frozen("f1")},
				{Account: h.owner.Account, Key: "h", Name: "h", Levels: frozen("f2")}})
		})
		h.save(t, logging.Logger{Key: "a", Levels: frozen("f3"), Group: "g"}, logging.Logger{Key: "a.b.c", Levels: frozen("f4"), Group: "h"}, logging.Logger{Key: "z"})
		const always = "production"
		want := map[string]string{"a": "f1 f3 " + always, "a.b.c": "f1 f2 f3 f4 " + always, "z": always}
		for _, listed := range h.all(t) {
			single := h.get(t, listed.Key)
			same(t, shownIn(listed.Resolved), want[listed.Key])
			same(t, strings.Contains(shownIn(single.Resolved), "reported"), true)
			for environment, level := range listed.Resolved {
				same(t, level, single.Resolved[environment])
			}
		}
		groups, err := h.Groups(t.Context(), h.owner, logging.GroupFilter{}, page.First())
		same(t, err, nil)
		for _, listed := range groups.Items {
			same(t, shownIn(listed.Resolved), map[string]string{"g": "f1 ", "h": "f2 "}[listed.Key]+always)
			single, err := h.Group(t.Context(), h.owner, listed.Key)
			same(t, err, nil)
			same(t, strings.Contains(shownIn(single.Resolved), "reported"), true)
		}
	})
}

// The derived members of a list are limited in size. Definitions are always complete.
func TestLoggers_DerivedSize(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	var keys []string
	inherited := map[string]logging.Override{}
	for i := range 1000 {
		keys = append(keys, strings.Repeat("e", 190)+strconv.Itoa(i))
		inherited[keys[i]] = logging.Override{Level: loglevel.Warn}
	}
	h.environments(t, keys...)
	loggers := []logging.Logger{{Key: "a", Levels: logging.Levels{Environments: inherited}}}
	for i := range 199 {
		loggers = append(loggers, logging.Logger{Key: "a." + strconv.Itoa(i)})
	}
	h.save(t, loggers...)
	listed := h.all(t)
	text, err := json.Marshal(listed)
	same(t, err, nil)
	if len(listed) != 200 || len(text) > 20<<20 {
		t.Errorf("%d loggers are %d bytes", len(listed), len(text))
	}
	if first, last := listed[0], listed[199]; len(first.Resolved) < 1000 || last.Resolved != nil || last.Sources == nil || last.EffectiveLevels == nil {
		t.Errorf("%d levels, %v", len(first.Resolved), last)
	}
}

// Keys with many segments do not cause more lookups than there are loggers.
func TestLoggers_ManyMissingAncestors(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		loggers := []logging.Logger{{Key: "7.7", Levels: logging.Levels{Level: loglevel.Error}}}
		for i := range 100 {
			loggers = append(loggers, logging.Logger{Key: strconv.Itoa(i) + strings.Repeat("."+strconv.Itoa(i), 80)})
		}
		h.save(t, loggers...)
		probes := 0
		h.Store = spy{Store: h.Store, probed: func(keys int) { probes += keys }}
		found, err := h.Loggers(t.Context(), h.owner, logging.Filter{Search: ".7.7.7.7"}, page.First())
		same(t, err, nil)
		same(t, found.Items[0].Resolved["production"].Level, loglevel.Error)
		probes = 0
		found, err = h.Loggers(t.Context(), h.owner, logging.Filter{}, page.First())
		same(t, err, nil)
		for _, each := range found.Items {
			want := loglevel.Info
			if strings.HasPrefix(each.Key, "7.") {
				want = loglevel.Error
			}
			same(t, each.Resolved["production"].Level, want)
		}
		if probes > len(loggers) {
			t.Errorf("%d keys are looked up for %d loggers", probes, len(loggers))
		}
	})
}

// A write reads only the definition while it holds the account's lock.
func TestReplace_ReadsNoSourcesUnderTheLock(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		h.report(t, seen("l", "WARN", "s"))
		h.Store = spy{Store: h.Store}
		view := h.replace(t, "l", level("DEBUG"))
		same(t, [3]int{len(view.Sources), len(view.EffectiveLevels), int(view.Resolved["production"].Level)}, [3]int{1, 1, int(loglevel.Debug)})
	})
}

// A write during the read of a logger is seen completely or not at all.
func TestLogger_ViewIsOneState(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		draft := logging.GroupDraft{Key: optional.Of("g"), LevelsDraft: level("TRACE").LevelsDraft}
		if _, err := h.CreateGroup(t.Context(), h.owner, draft); err != nil {
			t.Fatal(err)
		}
		h.replace(t, "a", logging.Draft{Group: optional.Of("g")})
		h.report(t, seen("a.b", "", "s"))
		writer := newService(h.db)
		h.Store = spy{Store: h.Store, then: func() {
			if err := writer.DeleteGroup(t.Context(), h.owner, "g", nil); err != nil {
				t.Error(err)
			}
		}}
		view, err := h.Logger(t.Context(), h.owner, "a.b")
		same(t, err, nil)
		same(t, view.Resolved["production"].Level, loglevel.Trace)
	})
}

// The summary of a logger shows its most recently seen sources.
func TestLogger_NewestSources(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		for i := range 25 {
			h.report(t, seen("l", "WARN", strconv.Itoa(i)), seen("m", "INFO", strconv.Itoa(i)))
		}
		for _, view := range h.all(t) {
			var services []string
			for _, source := range view.Sources {
				services = append(services, source.Service)
			}
			same(t, strings.Join(services, " "), "24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5")
			same(t, len(view.EffectiveLevels["e"]), 1)
		}
	})
}
