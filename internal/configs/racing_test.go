package configs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// Two writers each set one of two parents that form a cycle together. On PostgreSQL they use
// different nodes.
func TestReplace_RaceToCycleOfTwo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		for round := range suite.Scale(6, 20) {
			names := []string{fmt.Sprint("a-", round), fmt.Sprint("b-", round)}
			for _, name := range names {
				h.create(t, draft(name, "", nil))
			}
			errs := h.race(t, 2, func(node *configs.Service, racer int) error {
				_, err := node.Replace(t.Context(), h.owner, names[racer], draft(names[racer], names[1-racer], nil), nil)
				return err
			})
			same(t, storetest.Won(t, errs, fault.Validation), 1)
			for i, err := range errs {
				if err != nil {
					requireRefused(t, err, values{"parent": "back"})
					same(t, h.get(t, names[i]).Parent, nil)
				}
			}
		}
	})
}

func TestReplace_RaceToCycleOfMany(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		const ring = 12
		name := func(i int) string { return fmt.Sprint("ring-", i%ring) }
		for i := range ring {
			h.create(t, draft(name(i), "", nil))
		}
		errs := h.race(t, ring, func(node *configs.Service, racer int) error {
			_, err := node.Replace(t.Context(), h.owner, name(racer), draft(name(racer), name(racer+1), nil), nil)
			return err
		})
		same(t, storetest.Won(t, errs, fault.Validation), ring-1)
	})
}

// A child overrides an item while its parent removes the item. Another child is created while
// its parent is deleted.
func TestRace_ChainsStayValid(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		for round := range suite.Scale(4, 10) {
			parent, child := fmt.Sprint("parent-", round), fmt.Sprint("child-", round)
			h.create(t, draft(parent, "", values{"a": "1"}))
			h.create(t, draft(child, parent, nil))
			errs := h.race(t, 2, func(node *configs.Service, racer int) error {
				made := []configs.Draft{draft(parent, "", nil), in(draft(child, parent, nil), "production", values{"a": "2"})}[racer]
				_, err := node.Replace(t.Context(), h.owner, made.Key.Or(""), made, nil)
				return err
			})
			same(t, storetest.Won(t, errs, fault.Validation), 1)
		}
		for round := range suite.Scale(4, 10) {
			parent := fmt.Sprint("short-lived-", round)
			h.create(t, draft(parent, "", nil))
			errs := h.race(t, 2, func(node *configs.Service, racer int) error {
				if racer == 0 {
					return node.Delete(t.Context(), h.owner, parent, nil)
				}
				_, err := node.Create(t.Context(), h.owner, draft(parent+"-child", parent, nil))
				return err
			})
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Errorf("got %v, want one refusal", errs)
			}
		}
		requireValidChains(t, h)
	})
}

func TestRace_CommonAndLastSlot(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		errs := h.race(t, racers, func(node *configs.Service, racer int) error {
			if racer%2 == 0 {
				_, err := node.Configs(t.Context(), h.owner, configs.Filter{}, page.First())
				return err
			}
			_, err := node.Create(t.Context(), h.owner, draft(fmt.Sprint("config-", racer), configs.Common, nil))
			return err
		})
		same(t, storetest.Won(t, errs, fault.LimitReached), racers/2+9)
		same(t, h.count(t), 10)
		same(t, len(h.history(t)), 10)
	})
}

func TestReplace_RaceOnOneVersion(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		seen := h.create(t, draft("one", "", values{"a": "-1"}))
		match := func(current configs.Config) bool { return current.UpdatedAt.Equal(seen.UpdatedAt) }
		errs := h.race(t, racers, func(node *configs.Service, racer int) error {
			_, err := node.Replace(t.Context(), h.owner, "one", draft("one", "", values{"a": fmt.Sprint(racer)}), match)
			return err
		})
		same(t, storetest.Won(t, errs, fault.VersionMismatch), 1)
		same(t, len(h.history(t)), 2)
	})
}

// requireValidChains checks every rule of chains on the stored configs, and returns the chains.
func requireValidChains(t testing.TB, h *fixture) (chains [][]configs.Config) {
	t.Helper()
	list, err := h.Configs(t.Context(), h.owner, configs.Filter{}, page.First())
	if err != nil {
		t.Fatal(err)
	}
	byKey := map[string]configs.Config{}
	for _, config := range list.Items {
		byKey[config.Key] = config
	}
	for _, config := range list.Items {
		types, above := map[string]configs.Type{}, []configs.Config{config}
		for next := config.Parent; next != nil; next = byKey[*next].Parent {
			if _, exists := byKey[*next]; !exists || len(above) > configs.MaxDepth {
				t.Fatalf("the chain of %s is broken at %s", config.Key, *next)
			}
			above = append(above, byKey[*next])
		}
		slices.Reverse(above)
		chains = append(chains, above)
		for _, each := range above {
			for key, item := range each.Items {
				if known, declared := types[key]; declared && known != item.Type {
					t.Fatalf("%s of %s is %s and %s", key, each.Key, known, item.Type)
				}
				types[key] = item.Type
			}
			for environment, overrides := range each.Environments {
				for key, value := range overrides {
					if declared := types[key]; declared == "" || !isOf(value, declared) {
						t.Fatalf("%s overrides %s in %s with %s; it is %q", each.Key, key, environment, value, declared)
					}
				}
			}
		}
	}
	return chains
}

func isOf(value json.RawMessage, declared configs.Type) bool {
	switch decoded(value).(type) {
	case string:
		return declared == configs.String || declared == configs.JSON
	case float64:
		return declared == configs.Number || declared == configs.JSON
	}
	return declared == configs.JSON
}

// Any sequence of writes keeps the rules of chains, and every JSON value fits its schemas. The
// schema here allows objects that do not have both a and b.
func TestReplace_AnyWritesKeepChainsValid(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	rapid.Check(t, func(r *rapid.T) {
		names := []string{"c1", "c2", "c3", "c4"}
		item, value := rapid.SampledFrom([]string{"x", "y"}), rapid.SampledFrom([]string{`{"a":1}`, `{"b":1}`, `{"a":2}`, `{"b":2}`, `{}`, `"s"`})
		beginning := make([]configs.Config, len(names)) // start with a chain, not with the result of the last case
		for i, name := range names {
			beginning[i] = configs.Config{Account: h.owner.Account, Key: name, Name: name}
			if i > 0 {
				beginning[i].Parent = new(names[i-1])
			}
		}
		h.write(t, func(ctx context.Context, tx *store.Tx) error { return tx.SaveConfigs(ctx, beginning...) })
		for range rapid.IntRange(2, suite.Scale(6, 15)).Draw(r, "writes") {
			made := in(draft(rapid.SampledFrom(names).Draw(r, "key"), rapid.SampledFrom(append([]string{""}, names...)).Draw(r, "parent"),
				rapid.MapOfN(item, value, 0, 3).Draw(r, "items")), "production", rapid.MapOfN(item, value, 0, 2).Draw(r, "overrides"))
			if rapid.IntRange(0, 4).Draw(r, "move") > 0 {
				made.Parent = optional.Value[string]{}
			}
			for name, each := range made.Items {
				if each.Value[0] == '{' && rapid.Bool().Draw(r, "fitting") {
					fitting(made, name, `{"not":{"required":["a","b"]}}`)
				}
			}
			apply(t, h, made, rapid.IntRange(0, 9).Draw(r, "action"))
		}
		requireFitting(t, requireValidChains(t, h))
	})
}

// apply creates, replaces or sometimes deletes a config.
func apply(t *testing.T, h *fixture, made configs.Draft, action int) {
	t.Helper()
	key := made.Key.Or("")
	var err error
	if action == 0 {
		err = h.Delete(t.Context(), h.owner, key, nil)
	} else if _, err = h.Replace(t.Context(), h.owner, key, made, nil); fault.Is(err, fault.NotFound) {
		_, err = h.Create(t.Context(), h.owner, made)
	}
	if err != nil && !fault.Is(err, fault.Validation) && !fault.Is(err, fault.ConfigInUse) && !fault.Is(err, fault.NotFound) {
		t.Fatal(err)
	}
}

// requireFitting checks that every value fits all schemas of its chain.
func requireFitting(t *testing.T, chains [][]configs.Config) {
	t.Helper()
	for _, chain := range chains {
		fitting := map[string]bool{}
		for _, config := range chain {
			for key, item := range config.Items {
				fitting[key] = fitting[key] || item.Schema != nil
			}
		}
		for _, environment := range []*string{nil, new("production")} {
			resolved := configs.Resolve(chain, environment)
			for key, value := range resolved.Values {
				object, _ := decoded(value).(map[string]any)
				if fitting[key] && object["a"] != nil && object["b"] != nil {
					t.Fatalf("%s of %s resolves to %s", key, resolved.Key, value)
				}
			}
		}
	}
}
