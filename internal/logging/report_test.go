package logging_test

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestReport_FirstExplicitLevelDecides(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		outcome := h.report(t, seen("A/B", "", "one"), seen("a:b", "warn", "two"), seen("a.b", "ERROR", "three"), seen("a.B", "FATAL", "three"), seen("c", "", "one"))
		same(t, outcome, observations.Outcome{Registered: 4})
		same(t, h.get(t, "a.b").Level, loglevel.Warn)
		same(t, h.get(t, "c").Level, loglevel.None)
		h.report(t, logging.Observation{Name: "c", Level: "DEBUG", ResolvedLevel: "trace", Service: "one", Environment: "e"})
		view := h.get(t, "c")
		same(t, view.Level, loglevel.None)
		same(t, view.EffectiveLevels, map[string][]loglevel.Level{"e": {loglevel.Trace}})
		same(t, h.get(t, "a.b").EffectiveLevels, map[string][]loglevel.Level{"e": {loglevel.Info, loglevel.Warn, loglevel.Fatal}})
		history := h.history(t, logging.Kind)
		same(t, len(history), 1)
		same(t, [3]string{string(history[0].Action), history[0].Key, string(history[0].After)},
			[3]string{string(changes.Discovered), changes.AllKeys, `{"keys":["a.b","c"]}`})
	})
}

func TestReport_SkipsBadItems(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		if _, err := h.CreateGroup(t.Context(), h.owner, logging.GroupDraft{Key: optional.Of("group")}); err != nil {
			t.Fatal(err)
		}
		scoped := h.owner
		scoped.Environments = []string{"e"}
		outcome, err := h.Report(t.Context(), scoped, []logging.Observation{
			seen("", "INFO", "s"), seen("a\nb", "INFO", "s"), seen("a", "LOUD", "s"), {Name: "a", ResolvedLevel: "LOUD", Service: "s", Environment: "e"},
			seen("a", "INFO", ""), {Name: "a", Service: "s", Environment: "other"}, seen("Group", "INFO", "s"), seen("kept", "INFO", "s"),
			seen("group", "WARN", "s"), seen("*", "INFO", "s"),
		})
		if err != nil {
			t.Fatal(err)
		}
		var rejected []int
		for _, each := range outcome.Rejected {
			rejected = append(rejected, each.Index)
		}
		same(t, rejected, []int{0, 1, 2, 3, 4, 5, 9, 6, 8})
		same(t, outcome.Registered, 1)
		same(t, len(h.all(t)), 1)
		same(t, h.report(t, seen("", "INFO", "s")).Registered, 0)
	})
}

// A report without news starts no write of its own. Its time is written later, in one batch
// with others.
func TestReport_IdenticalReportRefreshes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		writes := 0
		h := newFixture(t, database, "free", func(o *store.Options) {
			o.Observe = func(kind string, _ time.Duration, _ error) {
				if kind == "write" {
					writes++
				}
			}
		})
		first := h.report(t, seen("a", "INFO", "s"), seen("b", "INFO", "s"))
		before, made := h.sources(t, logging.SourceFilter{}), writes
		for range 5 {
			same(t, h.report(t, seen("a", "INFO", "s"), seen("B", "info", "s")), first)
		}
		same(t, writes, made)
		same(t, h.sources(t, logging.SourceFilter{}), before)
		h.Refreshes.Flush(t.Context())
		same(t, writes, made+1)
		for i, after := range h.sources(t, logging.SourceFilter{}) {
			same(t, after.LastSeen.After(before[i].LastSeen), true)
			same(t, after.UpdatedAt, before[i].UpdatedAt)
		}
		h.Refreshes.Flush(t.Context())
		same(t, writes, made+1)
		same(t, len(h.history(t, logging.Kind)), 1)
		// If a report has known and new observations, the new ones are stored at once.
		same(t, h.report(t, seen("a", "INFO", "s"), seen("c", "INFO", "s"), seen("b", "WARN", "s")).Registered, 3)
		same(t, len(h.sources(t, logging.SourceFilter{})), 3)
		same(t, h.get(t, "b").Sources[0].Level, loglevel.Warn)
	})
}
