package flags_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestReport_FirstDeclarationDecides(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		outcome := h.report(t,
			declared("f", "NUMERIC", "1.50", "a", "e"),
			declared("f", "STRING", `"x"`, "b", "e"),
			declared("g", "boolean", "true", "a", "e"),
			declared("f", "JSON", `{"b":1,"a":2}`, "a", "e"), // the same source again
		)
		same(t, outcome, observations.Outcome{Registered: 3})
		flag := h.get(t, "f")
		same(t, [2]string{string(flag.Type), string(flag.Default)}, [2]string{"NUMERIC", "1.50"})
		same(t, [2]any{flag.Managed, flag.Name}, [2]any{false, "F"})
		same(t, len(h.get(t, "g").Values), 2)
		sources := h.sources(t)
		same(t, len(sources), 3)
		declares := func(service string, kind flageval.Type, base string) {
			t.Helper()
			source := h.sources(t)[observations.SourceKey{Name: "f", Service: service, Environment: "e"}]
			same(t, [2]string{string(source.DeclaredType), string(source.DeclaredDefault)}, [2]string{string(kind), base})
		}
		declares("a", flageval.JSON, `{"b":1,"a":2}`)
		declares("b", flageval.String, `"x"`)
		history := h.history(t)
		same(t, len(history), 1)
		same(t, [3]string{string(history[0].Action), history[0].Key, string(history[0].After)},
			[3]string{string(changes.Discovered), changes.AllKeys, `{"keys":["f","g"]}`})
		h.report(t, declared("f", "BOOLEAN", "false", "b", "e"))
		declares("b", flageval.Boolean, "false")
		after := h.get(t, "f")
		same(t, after.LastSeen.After(*flag.LastSeen), true)
		after.LastSeen = flag.LastSeen
		same(t, after, flag)
		same(t, len(h.history(t)), 1)
	})
}

func TestReport_IdenticalReportRefreshes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		items := []flags.Declaration{
			declared("f", "NUMERIC", "1", "a", "e"), declared("f", "NUMERIC", "2", "b", "e"),
			declared("g", "JSON", `{"b":1,"a":2}`, "a", "e"), {Key: "h", Type: "JSON", Service: "a", Environment: "e"},
		}
		first := h.report(t, items...)
		flag, sources, version := h.get(t, "f"), h.sources(t), h.version(t)
		items[0].Default, items[2].Default = []byte("1.0"), []byte(`{ "a": 2, "b": 1 }`) // the same in another spelling
		same(t, h.report(t, items...), first)
		same(t, h.version(t), version)
		same(t, h.sources(t), sources) // refreshes are written later
		h.Refreshes.Flush(t.Context())
		for key, now := range h.sources(t) {
			was := sources[key]
			same(t, now.LastSeen.After(was.LastSeen), true)
			now.LastSeen = was.LastSeen
			same(t, now, was)
		}
		now := h.get(t, "f")
		same(t, now.LastSeen.After(*flag.LastSeen), true)
		now.LastSeen = flag.LastSeen
		same(t, now, flag)
	})
}

func TestReport_SkipsBadItems(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		scoped := h.owner
		scoped.Environments = []string{"e"}
		outcome, err := h.Report(t.Context(), scoped, []flags.Declaration{
			declared("-", "NUMERIC", "1", "a", "e"), declared("f", "DATE", "1", "a", "e"), declared("f", "NUMERIC", `"1"`, "a", "e"),
			declared("f", "STRING", `"kept"`, "a", "e"), declared("f", "STRING", `""`, "", "e"), declared("f", "STRING", `""`, "a", "other"),
		})
		if err != nil {
			t.Fatal(err)
		}
		var rejected []int
		for _, each := range outcome.Rejected {
			rejected = append(rejected, each.Index)
		}
		same(t, rejected, []int{0, 1, 2, 4, 5})
		same(t, outcome.Registered, 1)
		same(t, string(h.get(t, "f").Default), `"kept"`)
		version := h.version(t)
		same(t, h.report(t, declared("-", "NUMERIC", "1", "a", "e")).Registered, 0)
		same(t, h.version(t), version)
	})
}

func TestReport_DeletedFlag(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		h.create(t, ruled("f", 3))
		h.report(t, declared("f", "STRING", `"ignored"`, "a", "e"))
		same(t, string(h.get(t, "f").Default), "0")
		if err := h.Delete(t.Context(), h.owner, "f", nil); err != nil {
			t.Fatal(err)
		}
		same(t, len(h.sources(t)), 0)
		h.report(t, declared("f", "STRING", `"new"`, "a", "e"))
		flag := h.get(t, "f")
		same(t, [3]any{flag.Managed, flag.CountRules(), string(flag.Default)}, [3]any{false, 0, `"new"`})
		same(t, flag.LastEvaluated, (*time.Time)(nil))
	})
}

func TestHistory_NothingObserved(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		made := h.create(t, numeric("f", "1"))
		h.report(t, declared("f", "NUMERIC", "1", "a", "e"))
		h.Refreshes.Note(made.Account, observations.FlagEvaluated, made.UpdatedAt, "f")
		h.Refreshes.Flush(t.Context())
		h.replace(t, "f", numeric("f", "2"))
		for _, change := range h.history(t) {
			for _, document := range []string{string(change.Before), string(change.After)} {
				if strings.Contains(document, "last_seen") || strings.Contains(document, "last_evaluated") {
					t.Errorf("%s: got %s", change.Action, document)
				}
			}
		}
		same(t, h.get(t, "f").LastEvaluated != nil && h.get(t, "f").LastSeen != nil, true)
	})
}

// A large report is written in slices, so that no other writer waits for long. The flags that one
// slice discovers are one change.
func TestReport_ChangePerSlice(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		writes := atomic.Int64{}
		db := database.Open(t, func(options *store.Options) {
			options.Observe = func(kind string, _ time.Duration, _ error) {
				if kind == "write" {
					writes.Add(1)
				}
			}
		})
		h := &fixture{Service: newService(db), database: database, db: db, owner: storetest.NewTenant(t, db, "free").Owner}
		var declarations []flags.Declaration
		for i := range 3073 {
			declarations = append(declarations, declared(fmt.Sprint("flag-", i), "BOOLEAN", "true", "web", "production"))
		}
		for _, want := range []int64{3, 0} {
			before := writes.Load()
			same(t, h.report(t, declarations...).Registered, len(declarations))
			same(t, writes.Load()-before, want)
		}
		var sizes []int
		for _, change := range h.history(t) {
			var discovered changes.Several
			if err := json.Unmarshal(change.After, &discovered); err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, len(discovered.Keys))
		}
		same(t, sizes, []int{1536, 1536, 1})
		same(t, h.count(t), len(declarations))
	})
}
