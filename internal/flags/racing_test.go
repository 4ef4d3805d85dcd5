package flags_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestCreate_OneRacerWins(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		for round := range 3 { // the later ones write over a deleted flag
			made := make([]flags.Flag, racers)
			errs := h.race(t, racers, func(node *flags.Service, racer int) (err error) {
				made[racer], err = node.Create(t.Context(), h.owner, numeric("one", strconv.Itoa(racer)))
				return err
			})
			same(t, storetest.Won(t, errs, fault.AlreadyExists), 1)
			for i, err := range errs {
				if err == nil {
					same(t, h.get(t, "one"), made[i])
				}
			}
			same(t, h.count(t), 1)
			same(t, len(h.history(t)), 2*round+1)
			if err := h.Delete(t.Context(), h.owner, "one", nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestDelete_OneRacerWins(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		h.create(t, numeric("one", "1"))
		errs := h.race(t, racers, func(node *flags.Service, _ int) error { return node.Delete(t.Context(), h.owner, "one", nil) })
		same(t, storetest.Won(t, errs, fault.NotFound), 1)
		same(t, len(h.history(t)), 2)
	})
}

func TestReplace_OneRacerWinsPerVersion(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		seen := h.create(t, numeric("one", "-1"))
		for round := range 5 {
			match := func(current flags.Flag) bool { return string(current.Default) == string(seen.Default) }
			errs := h.race(t, racers, func(node *flags.Service, racer int) error {
				_, err := node.Replace(t.Context(), h.owner, "one", numeric("one", fmt.Sprint(round*racers+racer)), match)
				return err
			})
			same(t, storetest.Won(t, errs, fault.VersionMismatch), 1)
			seen = h.get(t, "one")
			if number, err := strconv.Atoi(string(seen.Default)); err != nil || errs[number-round*racers] != nil {
				t.Errorf("the flag has %s, which did not win", seen.Default)
			}
		}
		same(t, len(h.history(t)), 6)
	})
}

// Racers without a precondition all win, and the history is one chain: every change begins with the
// state after the previous change.
func TestReplace_RacersMakeOneChainOfChanges(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		h.create(t, numeric("one", "-1"))
		errs := h.race(t, racers, func(node *flags.Service, racer int) error {
			_, err := node.Replace(t.Context(), h.owner, "one", numeric("one", strconv.Itoa(racer)), nil)
			return err
		})
		same(t, storetest.Won(t, errs, fault.VersionMismatch), racers)
		var before string
		for _, change := range h.history(t) {
			same(t, string(change.Before), before)
			before = string(change.After)
		}
		var last struct {
			Default json.RawMessage `json:"default"`
		}
		if err := json.Unmarshal([]byte(before), &last); err != nil {
			t.Fatal(err)
		}
		same(t, h.get(t, "one").Default, last.Default)
	})
}

func TestReport_RacersDiscoverOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		errs := h.race(t, racers, func(node *flags.Service, racer int) error {
			outcome, err := node.Report(t.Context(), h.owner, []flags.Declaration{
				declared("one", "NUMERIC", "1", "shared", "production"),
				declared("one", "NUMERIC", strconv.Itoa(racer), "own-"+strconv.Itoa(racer), "production"),
			})
			if err == nil && outcome.Registered != 2 {
				err = fmt.Errorf("registered %d", outcome.Registered)
			}
			return err
		})
		same(t, storetest.Won(t, errs, fault.AlreadyExists), racers)
		same(t, h.count(t), 1)
		same(t, len(h.sources(t)), racers+1)
		same(t, len(h.history(t)), 1)
	})
}

func TestReplace_RuleLimit(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		_, err := h.Create(t.Context(), h.owner, ruled("many", 6))
		if !fault.Is(err, fault.LimitReached) {
			t.Fatalf("got %v", err)
		}
		want := map[string]any{"limit_key": "flags.rules", "current": 6, "maximum": 5, "plan": "free"}
		same(t, fault.All(err)[0].Meta, want)
		same(t, h.count(t), 0)
		h.create(t, ruled("many", 5))
		errs := h.race(t, racers, func(node *flags.Service, racer int) error {
			_, err := node.Replace(t.Context(), h.owner, "many", ruled("many", racer%10), nil)
			return err
		})
		for racer, err := range errs {
			if refused := fault.Is(err, fault.LimitReached); refused != (racer%10 > 5) {
				t.Errorf("%d rules: %v", racer%10, err)
			}
		}
		if count := h.get(t, "many").CountRules(); count > 5 {
			t.Errorf("%d rules were stored", count)
		}
	})
}

// fill makes flags until only left more fit into the account.
func (h *fixture) fill(t *testing.T, left int) {
	t.Helper()
	made := make([]flags.Flag, flags.MaxFlags-left)
	for i := range made {
		made[i] = flags.Flag{Account: h.owner.Account, Key: "filler-" + strconv.Itoa(i), Name: "Filler", Type: flageval.Numeric,
			Default: json.RawMessage("0"), Environments: map[string]flags.Environment{}}
	}
	for batch := range slices.Chunk(made, 1000) { // a transaction may not take long
		h.write(t, func(ctx context.Context, tx *store.Tx) error { return tx.SaveFlags(ctx, batch) })
	}
}

func TestCreate_FlagCap(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		h.fill(t, 5)
		errs := h.race(t, few, func(node *flags.Service, racer int) error {
			_, err := node.Create(t.Context(), h.owner, numeric("new-"+strconv.Itoa(racer), "1"))
			return err
		})
		same(t, storetest.Won(t, errs, fault.RowLimitReached), 5)
		for _, err := range errs {
			if err != nil {
				same(t, fault.All(err)[0].Meta, map[string]any{"limit_key": "flags.flag_rows", "maximum": flags.MaxFlags})
			}
		}
		same(t, h.count(t), flags.MaxFlags)
		_, err := h.Create(t.Context(), h.owner, numeric("filler-1", "1"))
		same(t, fault.Is(err, fault.AlreadyExists), true) // which helps the caller more than the limit
		promoted := numeric("filler-1", "2")
		promoted.Managed = optional.Of(true)
		h.replace(t, "filler-1", promoted)
		if err := h.Delete(t.Context(), h.owner, "filler-1", nil); err != nil {
			t.Fatal(err)
		}
		h.create(t, numeric("filler-1", "3"))
	})
}

func TestReport_FlagCap(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		h.fill(t, 2)
		h.report(t, declared("filler-0", "NUMERIC", "0", "s", "e"))
		seen := h.get(t, "filler-0").LastSeen
		outcome := h.report(t,
			declared("new-0", "NUMERIC", "0", "s", "e"), declared("new-1", "NUMERIC", "0", "s", "e"),
			declared("new-2", "NUMERIC", "0", "s", "e"), declared("new-2", "NUMERIC", "0", "other", "e"),
			declared("filler-0", "NUMERIC", "0", "s", "e"), declared("filler-1", "NUMERIC", "0", "s", "e"))
		same(t, outcome, observations.Outcome{Registered: 4})
		same(t, h.count(t), flags.MaxFlags)
		h.Refreshes.Flush(t.Context())
		if now := h.get(t, "filler-0").LastSeen; !now.After(*seen) {
			t.Errorf("last seen %s, and after another report %s", seen, now)
		}
		_, err := h.Flag(t.Context(), h.owner, "new-2")
		same(t, fault.Is(err, fault.NotFound), true)
		same(t, len(h.sources(t)), 4)
		same(t, h.report(t, declared("new-2", "NUMERIC", "0", "s", "e")), observations.Outcome{})
		discoveries := h.history(t)
		same(t, len(discoveries), 1)
		same(t, string(discoveries[0].After), `{"keys":["new-0","new-1"]}`)
	})
}

func TestReport_SourceCap(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		h.report(t, declared("f", "NUMERIC", "0", "known", "e"))
		// The stored total allows one more source.
		if _, err := database.Raw(t).ExecContext(t.Context(), `UPDATE account_totals SET amount = $1 WHERE account_id = $2 AND what = 'flag sources'`,
			observations.MaxSources-1, h.owner.Account); err != nil {
			t.Fatal(err)
		}
		outcome := h.report(t, declared("f", "NUMERIC", "0", "first", "e"), declared("f", "NUMERIC", "0", "second", "e"),
			declared("f", "NUMERIC", "1", "known", "e"))
		same(t, outcome, observations.Outcome{Registered: 2})
		h.read(t, func(ctx context.Context, tx *store.ReadTx) error {
			count, err := tx.CountFlagSources(ctx, h.owner.Account)
			same(t, count, observations.MaxSources)
			return err
		})
		for service, want := range map[string]int{"first": 1, "second": 0, "known": 1} {
			t.Run(service, func(t *testing.T) {
				list, err := h.Sources(t.Context(), h.owner, flags.SourceFilter{Flag: "f", Service: service}, page.First())
				if err != nil || len(list.Items) != want {
					t.Errorf("%d sources, %v", len(list.Items), err)
				}
			})
		}
	})
}
