package logging_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestReplace_RacingPromotionsKeepThePlan(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		for i := range racers / 2 { // half of the loggers are discovered, half do not exist
			h.report(t, seen("racer."+strconv.Itoa(i), "INFO", "s"))
		}
		errs := h.race(t, racers, func(node *logging.Service, racer int) error {
			_, err := node.Replace(t.Context(), h.owner, "racer."+strconv.Itoa(racer), level("DEBUG"), nil)
			return err
		})
		same(t, storetest.Won(t, errs, fault.LimitReached), 15)
		same(t, h.managed(t), 15)
		for _, err := range errs {
			if err != nil {
				same(t, fault.All(err)[0].Meta, map[string]any{"limit_key": "logging.managed_loggers", "current": 15, "maximum": 15, "plan": "free"})
			}
		}
	})
}

func TestCreateGroup_RacersKeepThePlan(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		errs := h.race(t, racers, func(node *logging.Service, racer int) error {
			_, err := node.CreateGroup(t.Context(), h.owner, logging.GroupDraft{Key: optional.Of("g" + strconv.Itoa(racer))})
			return err
		})
		same(t, storetest.Won(t, errs, fault.LimitReached), 3)
	})
}

// A key belongs to either a logger or a group: the first writer decides.
func TestCreateGroup_RacesWithLoggerOfItsKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		for round := range 5 {
			key := "key" + strconv.Itoa(round)
			errs := h.race(t, racers, func(node *logging.Service, racer int) error {
				if racer%2 == 0 {
					_, err := node.CreateGroup(t.Context(), h.owner, logging.GroupDraft{Key: optional.Of(key)})
					return err
				}
				_, err := node.Replace(t.Context(), h.owner, key, level("DEBUG"), nil)
				return err
			})
			won := storetest.Won(t, errs, fault.AlreadyExists)
			_, asGroup := h.Group(t.Context(), h.owner, key)
			_, asLogger := h.Logger(t.Context(), h.owner, key)
			if isGroup, isLogger := asGroup == nil, asLogger == nil; isGroup == isLogger || won != map[bool]int{true: 1, false: racers / 2}[isGroup] {
				t.Errorf("group %v, logger %v, %d have won", asGroup, asLogger, won)
			}
		}
	})
}

// Loggers are promoted, released, discovered and deleted at the same time. Afterward, in every
// order: unmanaged loggers have only their reported level, managed loggers have something set,
// and the history ends with the stored rows.
func TestService_StormLeavesValidStates(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		names := []string{"a", "a.b", "a.b.c", "a.d", "e"}
		errs := h.race(t, racers, func(node *logging.Service, racer int) (err error) {
			for step := range 6 {
				name := names[(racer+step)%len(names)]
				switch (racer + step) % 4 {
				case 0:
					_, err = node.Replace(t.Context(), h.owner, name, level("TRACE"), nil)
				case 1:
					_, err = node.Report(t.Context(), h.owner, []logging.Observation{seen(name, "ERROR", "s"+strconv.Itoa(racer%3))})
				case 2:
					_, err = node.Replace(t.Context(), h.owner, name, released(), nil)
				case 3:
					if err = node.Delete(t.Context(), h.owner, name, nil); fault.Is(err, fault.NotFound) {
						err = nil
					}
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		same(t, storetest.Won(t, errs, fault.NotFound), racers)
		managed := 0
		for _, logger := range h.all(t) {
			if logger.Managed {
				managed++
			}
			reported := logger.Level == loglevel.None || logger.Level == loglevel.Error
			if logger.Managed != (logger.Level == loglevel.Trace) || (!logger.Managed && (!reported || logger.Group != "" || len(logger.Environments) > 0)) {
				t.Errorf("%s: managed %v with %v", logger.Key, logger.Managed, logger.Level)
			}
			same(t, last(t, h, logger.Key), string(must(json.Marshal(logger.Logger))))
		}
		same(t, h.managed(t), managed)
	})
}

// last returns the newest state of a logger in the history. If the last change covered several
// loggers, it returns the stored logger.
func last(t *testing.T, h *fixture, key string) string {
	t.Helper()
	history := h.history(t, logging.Kind)
	for _, change := range slices.Backward(history) {
		var several changes.Several
		if change.Key == changes.AllKeys && json.Unmarshal(change.After, &several) == nil && slices.Contains(several.Keys, key) {
			break
		}
		if change.Key == key {
			return string(change.After)
		}
	}
	return string(must(json.Marshal(h.get(t, key).Logger)))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestReplace_OneRacerCascades(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		h.report(t, seen("a.b", "WARN", "s"), seen("a.c", "WARN", "s"))
		errs := h.race(t, racers, func(node *logging.Service, racer int) error {
			_, err := node.Replace(t.Context(), h.owner, "a", level([]string{"INFO", "DEBUG"}[racer%2]), nil)
			return err
		})
		same(t, storetest.Won(t, errs, fault.NotFound), racers)
		cascades := 0
		for _, change := range h.history(t, logging.Kind) {
			if change.Action == changes.Cascaded {
				cascades++
				same(t, string(change.After), `{"keys":["a.b","a.c"],"cause":"logger:a"}`)
				same(t, change.Event(), "loggers_changed")
			}
		}
		same(t, cascades, 1)
	})
}

func TestReport_RacersDiscoverOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		errs := h.race(t, racers, func(node *logging.Service, racer int) error {
			outcome, err := node.Report(t.Context(), h.owner, []logging.Observation{seen("One", "INFO", "shared"), seen("one", "WARN", "own"+strconv.Itoa(racer))})
			if err == nil && outcome.Registered != 2 {
				err = fmt.Errorf("registered %d", outcome.Registered)
			}
			return err
		})
		same(t, storetest.Won(t, errs, fault.NotFound), racers)
		same(t, len(h.all(t)), 1)
		same(t, len(h.sources(t, logging.SourceFilter{})), racers+1)
		same(t, len(h.history(t, logging.Kind)), 1)
	})
}

// A group is deleted while loggers are assigned to it. No logger may stay in the deleted group.
func TestDeleteGroup_RacesWithAssignment(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		if _, err := h.CreateGroup(t.Context(), h.owner, logging.GroupDraft{Key: optional.Of("g")}); err != nil {
			t.Fatal(err)
		}
		h.race(t, racers, func(node *logging.Service, racer int) error {
			if racer == racers/2 {
				return node.DeleteGroup(t.Context(), h.owner, "g", nil)
			}
			_, err := node.Replace(t.Context(), h.owner, "l"+strconv.Itoa(racer), logging.Draft{Group: optional.Of("g")}, nil)
			return err
		})
		for _, logger := range h.all(t) {
			if logger.Group != "" || logger.Managed {
				t.Errorf("%s is in %q, managed %v", logger.Key, logger.Group, logger.Managed)
			}
		}
	})
}

// fill creates loggers until only left more fit into the account.
func (h *fixture) fill(t *testing.T, left int) {
	t.Helper()
	made := make([]logging.Logger, logging.MaxLoggers-left)
	for i := range made {
		made[i] = logging.Logger{Account: h.owner.Account, Key: "filler." + strconv.Itoa(i), Name: "Filler",
			Levels: logging.Levels{Environments: map[string]logging.Override{}}}
	}
	for batch := range slices.Chunk(made, 1000) { // a transaction must be short
		h.write(t, func(ctx context.Context, tx *store.Tx) error { return tx.SaveLoggers(ctx, batch) })
	}
}

func TestReplace_LoggerCap(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		h.fill(t, 5)
		errs := h.race(t, few, func(node *logging.Service, racer int) error {
			_, err := node.Replace(t.Context(), h.owner, "new."+strconv.Itoa(racer), level("DEBUG"), nil)
			return err
		})
		same(t, storetest.Won(t, errs, fault.RowLimitReached), 5)
		for _, err := range errs {
			if err != nil {
				same(t, fault.All(err)[0].Meta, map[string]any{"limit_key": "logging.logger_rows", "maximum": logging.MaxLoggers})
			}
		}
		outcome := h.report(t, seen("more", "INFO", "s"), seen("filler.1", "INFO", "s"))
		same(t, outcome, observations.Outcome{Registered: 1})
		same(t, h.report(t, seen("more", "INFO", "s"), seen("filler.2", "INFO", "s")), observations.Outcome{Registered: 1})
		h.replace(t, "filler.1", level("DEBUG"))
		if err := h.Delete(t.Context(), h.owner, "filler.1", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := h.CreateGroup(t.Context(), h.owner, logging.GroupDraft{Key: optional.Of("a group is no logger")}); err != nil {
			t.Fatal(err)
		}
		same(t, h.report(t, seen("more", "INFO", "s"), seen("even.more", "INFO", "s")), observations.Outcome{Registered: 1})
		same(t, h.count(t, func(ctx context.Context, tx *store.ReadTx) (int, error) { return tx.CountLoggers(ctx, h.owner.Account) }), logging.MaxLoggers)
	})
}

func TestReport_SourceCap(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		var watch clock
		var writes atomic.Int64
		h := newFixture(t, database, "pro", watch.set, func(o *store.Options) {
			o.Observe = func(kind string, _ time.Duration, _ error) {
				if kind == "write" {
					writes.Add(1)
				}
			}
		})
		h.report(t, seen("l", "INFO", "known"))
		// Pretend that there is room for one more source.
		if _, err := database.Raw(t).ExecContext(t.Context(), `UPDATE account_totals SET amount = $1 WHERE account_id = $2 AND what = 'logger sources'`,
			observations.MaxSources-1, h.owner.Account); err != nil {
			t.Fatal(err)
		}
		outcome := h.report(t, seen("l", "INFO", "first"), seen("l", "INFO", "second"), seen("l", "WARN", "known"))
		same(t, outcome, observations.Outcome{Registered: 2})
		// From now on, reports of sources beyond the limit start no transaction. Other new
		// reports do. After a while the dropped sources are tried again.
		dropped, made := []logging.Observation{seen("l", "INFO", "third"), seen("l", "INFO", "second"), seen("l", "WARN", "known")}, writes.Load()
		same(t, h.report(t, dropped...), observations.Outcome{Registered: 1})
		same(t, writes.Load(), made)
		same(t, h.report(t, append(dropped, seen("new", "INFO", "s"))...), observations.Outcome{Registered: 1})
		same(t, writes.Load(), made+1)
		same(t, h.get(t, "new").Level, loglevel.Info)
		watch.move(time.Minute)
		same(t, h.report(t, dropped...), observations.Outcome{Registered: 1})
		same(t, writes.Load(), made+2)
		same(t, h.count(t, func(ctx context.Context, tx *store.ReadTx) (int, error) {
			return tx.CountLoggerSources(ctx, h.owner.Account)
		}), observations.MaxSources)
		for service, want := range map[string]loglevel.Level{"first": loglevel.Info, "second": loglevel.None, "known": loglevel.Warn} {
			t.Run(service, func(t *testing.T) {
				got := loglevel.None
				for _, source := range h.sources(t, logging.SourceFilter{Logger: "l", Service: service}) {
					got = source.Level
				}
				same(t, got, want)
			})
		}
	})
}
