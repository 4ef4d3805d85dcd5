package configs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/overrides"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestCommon_CreatedWhenNeeded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		absent := func(key string) configs.Draft {
			made := draft(key, "", nil)
			made.Parent = optional.Value[string]{}
			return made
		}
		for name, each := range map[string]struct {
			need func(h *fixture) error
			made bool
		}{
			"a list": {func(h *fixture) error {
				list, err := h.Configs(t.Context(), h.owner, configs.Filter{}, page.First())
				same(t, len(list.Items), 1)
				return err
			}, true},
			"a list that does not show it": {func(h *fixture) error {
				_, err := h.Configs(t.Context(), h.owner, configs.Filter{Search: "zzz"}, page.First())
				return err
			}, true},
			"a get":        {func(h *fixture) error { _, err := h.Config(t.Context(), h.owner, configs.Common); return err }, true},
			"a resolution": {func(h *fixture) error { _, err := h.Resolved(t.Context(), h.owner, configs.Common, nil); return err }, true},
			"a replace": {func(h *fixture) error {
				_, err := h.Replace(t.Context(), h.owner, configs.Common, absent(configs.Common), nil)
				return err
			}, true},
			"a child by default": {func(h *fixture) error { _, err := h.Create(t.Context(), h.owner, absent("child")); return err }, true},
			"a child by name": {func(h *fixture) error {
				_, err := h.Create(t.Context(), h.owner, draft("child", configs.Common, nil))
				return err
			}, true},
			"its own creation": {func(h *fixture) error { _, err := h.Create(t.Context(), h.owner, absent(configs.Common)); return err }, true},
			"a child that moves below it": {func(h *fixture) error {
				h.create(t, draft("child", "", nil))
				_, err := h.Replace(t.Context(), h.owner, "child", draft("child", configs.Common, nil), nil)
				return err
			}, true},
			"a config that stands alone": {func(h *fixture) error { _, err := h.Create(t.Context(), h.owner, draft("alone", "", nil)); return err }, false},
			"a get of another": {func(h *fixture) error {
				if _, err := h.Config(t.Context(), h.owner, "other"); !fault.Is(err, fault.NotFound) {
					return fmt.Errorf("got %w", err)
				}
				return nil
			}, false},
		} {
			t.Run(name, func(t *testing.T) {
				h.owner = storetest.NewTenant(t, h.db, "free").Owner
				if err := each.need(h); err != nil {
					t.Fatal(err)
				}
				made := 0
				for _, change := range h.history(t) {
					if change.Key == configs.Common && change.Action == changes.Created {
						made++
					}
				}
				same(t, made == 1, each.made)
				same(t, made < 2, true)
				if each.made {
					same(t, h.get(t, configs.Common).Parent, nil)
					same(t, h.get(t, configs.Common).Name, "common")
				}
			})
		}
	})
}

func TestCommon_NeitherRefusedNorDeleted(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "free")
	for i := range 10 {
		h.create(t, draft(fmt.Sprint("config-", i), "", nil))
	}
	alone, below := draft("one-more", "", nil), draft("one-more", "", nil)
	below.Parent = optional.Value[string]{} // its default parent common does not exist yet, and does not count
	for _, wanted := range []configs.Draft{alone, below} {
		_, err := h.Create(t.Context(), h.owner, wanted)
		if !fault.Is(err, fault.LimitReached) {
			t.Fatalf("got %v", err)
		}
		same(t, fault.All(err)[0].Meta, map[string]any{"limit_key": "config.items", "current": 10, "maximum": 10, "plan": "free"})
	}
	same(t, h.count(t), 10)
	if err := h.Delete(t.Context(), h.owner, configs.Common, nil); !fault.Is(err, fault.ConfigProtected) {
		t.Errorf("got %v", err)
	}
	h.get(t, configs.Common)
	same(t, h.count(t), 11)
	if err := h.Delete(t.Context(), h.owner, configs.Common, nil); !fault.Is(err, fault.ConfigProtected) {
		t.Errorf("got %v", err)
	}
}

func TestDelete_ConfigInUse(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	h.create(t, draft("parent", "", nil))
	for i := range 7 {
		h.create(t, draft(fmt.Sprint("child-", i), "parent", nil))
	}
	err := h.Delete(t.Context(), h.owner, "parent", nil)
	if !fault.Is(err, fault.ConfigInUse) || !strings.Contains(err.Error(), "child-0, child-1, child-2, child-3, child-4 and others") {
		t.Errorf("got %v", err)
	}
	for i := range 7 {
		if err := h.Delete(t.Context(), h.owner, fmt.Sprint("child-", i), nil); err != nil {
			t.Error(err)
		}
	}
	if err := h.Delete(t.Context(), h.owner, "parent", nil); err != nil {
		t.Error(err)
	}
	same(t, h.count(t), 0)
}

func TestCreate_AllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	long := strings.Repeat("ä", 1001)
	bad := draft("-bad", "", values{"fits": "1", "": "1", "control\x00": "1", "huge": `"` + strings.Repeat("x", configs.MaxValue) + `"`,
		"deep": strings.Repeat("[", 65) + strings.Repeat("]", 65), "number": "1e999"})
	bad.Name, bad.Description = optional.Of(""), optional.Of(long)
	bad.Items["typed"] = configs.ItemDraft{Value: json.RawMessage(`1`), Type: optional.Of("string"), Description: optional.Of(long)}
	bad.Items["untyped"] = configs.ItemDraft{Value: json.RawMessage(`1`), Type: optional.Of("INTEGER")}
	bad.Items["valueless"] = configs.ItemDraft{Type: optional.Of("STRING")}
	bad.Items["null"] = configs.ItemDraft{Value: json.RawMessage(`null`), Type: optional.Of("BOOLEAN")}
	in(bad, "production", values{"big": `"` + strings.Repeat("x", configs.MaxValue) + `"`})
	_, err := h.Create(t.Context(), h.owner, bad)
	requireRefused(t, err, values{
		"/data/id": "letters", "name": "255", "description": "1000", "items/": "200", "items/control\x00": "control",
		"items/huge/value": "262144", "items/deep/value": "64", "items/number/value": "number", "items/typed/value": "STRING",
		"items/typed/description": "1000", "items/untyped/type": "NUMBER", "items/valueless/value": "required", "items/null/value": "true",
		"environments/production/big": "262144",
	})
	same(t, h.count(t), 0)
}

func TestCreate_ItemTypes(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	made := draft("typed", "", values{"s": `"1"`, "n": `-1.5e3`, "t": `true`, "f": `false`, "o": `{}`, "a": `[]`, "null": `null`})
	made.Items["any"] = configs.ItemDraft{Value: json.RawMessage(`1`), Type: optional.Of("json")}
	got := map[string]configs.Type{}
	for key, item := range h.create(t, made).Items {
		got[key] = item.Type
	}
	same(t, got, map[string]configs.Type{"s": "STRING", "n": "NUMBER", "t": "BOOLEAN", "f": "BOOLEAN", "o": "JSON", "a": "JSON", "null": "JSON", "any": "JSON"})
}

func TestCreate_Limits(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	many := draft("many", "", nil)
	for i := range configs.MaxItems {
		many.Items[fmt.Sprint("item-", i)] = configs.ItemDraft{Value: json.RawMessage("1")}
	}
	h.create(t, many)
	many.Items["one-more"] = configs.ItemDraft{Value: json.RawMessage("1")}
	_, err := h.Replace(t.Context(), h.owner, "many", many, nil)
	requireRefused(t, err, values{"items": "5000"})

	large := draft("large", "", nil)
	for i := range 5 {
		large.Items[fmt.Sprint("item-", i)] = configs.ItemDraft{Value: json.RawMessage(`"` + strings.Repeat("x", configs.MaxValue-2) + `"`)}
	}
	_, err = h.Create(t.Context(), h.owner, large)
	requireRefused(t, err, values{"items": "1048576"})

	wide := draft("wide", "", values{"a": "1"})
	for i := range overrides.MaxEntries + 1 {
		in(wide, fmt.Sprint("environment-", i), values{"a": "2"})
	}
	_, err = h.Create(t.Context(), h.owner, wide)
	requireRefused(t, err, values{"environments": "2000"})

	schemas := draft("schemas", "", nil)
	for i := range configs.MaxSchemas + 1 {
		key := fmt.Sprint("item-", i)
		schemas.Items[key] = configs.ItemDraft{Value: json.RawMessage("{}"), Schema: optional.Of(json.RawMessage("true"))}
	}
	_, err = h.Create(t.Context(), h.owner, schemas)
	requireRefused(t, err, values{"items": "200"})
}

// demote makes an environment unmanaged without checking the rules of environments.
func demote(t *testing.T, h *fixture, key string) {
	t.Helper()
	h.write(t, func(ctx context.Context, tx *store.Tx) error {
		environment, err := tx.Environment(ctx, h.owner.Account, key)
		environment.Managed = false
		if err != nil {
			return err
		}
		return tx.UpdateEnvironment(ctx, environment)
	})
}

func newEnvironment(t *testing.T, h *fixture, key string) {
	t.Helper()
	h.write(t, func(ctx context.Context, tx *store.Tx) error {
		return tx.InsertEnvironments(ctx, environments.Environment{Account: h.owner.Account, Key: key, Name: key,
			Classification: environments.Standard, Managed: true, CreatedAt: tx.Now(), UpdatedAt: tx.Now()})
	})
}

func TestReplace_FrozenOverridesStay(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	newEnvironment(t, h, "qa")
	items := values{"a": "1", "b": "2", "c": `{"x":1,"y":2}`}
	h.create(t, in(in(draft("config", "", items), "qa", values{"a": "10", "c": `{"y":3,"x":4}`}), "production", values{"a": "5"}))
	demote(t, h, "qa")
	frozen := h.get(t, "config").Environments["qa"]
	for name, allowed := range map[string]configs.Draft{
		"left out":            draft("config", "", items),
		"repeated":            in(draft("config", "", items), "qa", values{"a": "10.0", "c": `{"x":4, "y":3}`}),
		"repeated in part":    in(draft("config", "", items), "qa", values{"a": "10"}),
		"with a null, as one": in(draft("config", "", items), "qa", values{"a": "null"}),
		"empty":               in(draft("config", "", items), "qa", nil),
	} {
		t.Run(name, func(t *testing.T) {
			same(t, h.replace(t, allowed).Environments["qa"], frozen)
			if _, has := h.get(t, "config").Environments["production"]; has {
				t.Errorf("%s: the override in the managed environment was not replaced", name)
			}
		})
	}
	for name, each := range map[string]struct {
		draft configs.Draft
		place string
	}{
		"changed":     {in(draft("config", "", items), "qa", values{"a": "11"}), "environments/qa"},
		"added":       {in(draft("config", "", items), "qa", values{"a": "10", "b": "1"}), "environments/qa"},
		"to no place": {in(draft("config", "", items), "nowhere", values{"a": "10"}), "environments/nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := h.Replace(t.Context(), h.owner, "config", each.draft, nil)
			requireRefused(t, err, values{each.place: ""})
			if !fault.Is(err, fault.EnvironmentUnmanaged) {
				t.Errorf("got %v", err)
			}
		})
	}
	_, err := h.Replace(t.Context(), h.owner, "config", draft("config", "", values{"a": `"text"`, "c": "{}"}), nil)
	requireRefused(t, err, values{"items/a": "STRING qa frozen"})
	resolved, err := h.Resolved(t.Context(), h.owner, "config", new("qa"))
	if err != nil || string(resolved.Values["a"]) != "10" {
		t.Errorf("frozen values are still used: got %s, %v", resolved.Values["a"], err)
	}
}

func TestReplace_RemovedItemTakesFrozenOverrides(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	newEnvironment(t, h, "qa")
	h.create(t, draft("root", "", values{"inherited": "1", "above": "1"}))
	items := values{"a": "1", "b": "2", "inherited": "3", "j": `{}`}
	frozen := values{"a": "10", "b": "20", "inherited": "30", "above": "40", "j": `{"x":1}`}
	h.create(t, in(draft("config", "root", items), "qa", frozen))
	demote(t, h, "qa")

	t.Run("a write that repeats it names it", func(t *testing.T) {
		_, err := h.Replace(t.Context(), h.owner, "config", in(draft("config", "root", nil), "qa", values{"a": "10"}), nil)
		requireRefused(t, err, values{"environments/qa/a": "declares"})
	})
	t.Run("a schema that it does not fit is refused at the item", func(t *testing.T) {
		_, err := h.Replace(t.Context(), h.owner, "config", fitting(draft("config", "root", items), "j", `{"maxProperties":0}`), nil)
		requireRefused(t, err, values{"items/j": "qa"})
	})
	t.Run("a parent that does not declare it is refused", func(t *testing.T) {
		_, err := h.Replace(t.Context(), h.owner, "config", draft("config", "", items), nil)
		requireRefused(t, err, values{"parent": "above qa frozen"})
	})
	t.Run("what is removed goes, what an ancestor still declares stays", func(t *testing.T) {
		after := h.replace(t, draft("config", "root", values{"b": "2"}))
		want := configs.Overrides{"b": json.RawMessage("20"), "inherited": json.RawMessage("30"), "above": json.RawMessage("40")}
		same(t, after.Environments, map[string]configs.Overrides{"qa": want})
		same(t, h.get(t, "config").Environments, after.Environments)
	})
}

func TestReplace_ScopedKey(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	newEnvironment(t, h, "qa")
	items := values{"a": "1", "b": `"x"`, "large": "9007199254740993", "j": "{}"}
	h.create(t, fitting(in(in(draft("config", "", items), "qa", values{"a": "2"}), "production", values{"a": "3"}), "j", `{"type":"object","title":"x"}`))
	another := func(changes values) values {
		all := maps.Clone(items)
		maps.Copy(all, changes)
		return all
	}
	scoped := h.owner
	scoped.Environments = []string{"qa"}
	write := func(made configs.Draft) error {
		_, err := h.Replace(t.Context(), scoped, "config", made, nil)
		return err
	}
	production := values{"a": "3"}
	for name, allowed := range map[string]configs.Draft{
		"another value":             in(in(draft("config", "", items), "qa", values{"a": "7"}), "production", production),
		"another key":               in(in(draft("config", "", items), "qa", values{"b": `"y"`}), "production", production),
		"none":                      in(draft("config", "", items), "production", production),
		"spelled another":           in(in(draft("config", "", another(values{"a": "1.0"})), "qa", values{"a": "7"}), "production", values{"a": "3.0"}),
		"a schema in another order": fitting(in(draft("config", "", items), "production", production), "j", `{"title":"x", "type":"object"}`),
	} {
		t.Run(name, func(t *testing.T) {
			if err := write(allowed); err != nil {
				t.Error(err)
			}
		})
	}
	named, described := draft("config", "", items), draft("config", "", items)
	named.Name, described.Description = optional.Of("Other"), optional.Of("Other")
	for name, refused := range map[string]configs.Draft{
		"an item":           in(draft("config", "", another(values{"a": "2"})), "production", production),
		"a large number":    in(draft("config", "", another(values{"large": "9007199254740992"})), "production", production),
		"a schema":          fitting(in(draft("config", "", items), "production", production), "j", `{"title":"y"}`),
		"an item more":      in(draft("config", "", another(values{"c": "1"})), "production", production),
		"a parent":          in(draft("config", configs.Common, items), "production", production),
		"a name":            in(named, "production", production),
		"a description":     in(described, "production", production),
		"another's value":   in(draft("config", "", items), "production", values{"a": "4"}),
		"another's removal": draft("config", "", items),
	} {
		t.Run(name, func(t *testing.T) {
			if err := write(refused); !fault.Is(err, fault.Forbidden) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestStripValues(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		newEnvironment(t, h, "qa")
		for _, key := range []string{"a", "b"} {
			h.create(t, in(in(draft(key, "", values{"x": "1", "y": "2"}), "qa", values{"x": "2", "y": "3"}), "production", values{"x": "4"}))
		}
		h.create(t, draft("none", "", nil))
		before := len(h.history(t))
		h.write(t, func(ctx context.Context, tx *store.Tx) error {
			count, err := configs.CountValues(ctx, tx, h.owner.Account, "qa")
			same(t, count, 4)
			if err != nil {
				return err
			}
			return configs.StripValues(ctx, tx, h.owner, "qa")
		})
		made := h.history(t)[before:]
		same(t, len(made), 3)
		same(t, made[0].Event()+made[1].Event(), "")
		same(t, made[2].Event(), "configs_changed")
		same(t, string(made[2].After), `{"keys":["a","b"],"cause":"environment:qa"}`)
		same(t, h.get(t, "a").Environments, map[string]configs.Overrides{"production": {"x": json.RawMessage("4")}})
	})
}

// StripValues writes many configs at once, and the stored total size stays correct.
func TestStripValues_ManyConfigs(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		const many = 600 // enough for several statements, the last one smaller
		bare, held := make([]configs.Config, many), make([]configs.Config, many)
		keys := make([]string, many)
		for i := range held {
			keys[i] = fmt.Sprintf("c%04d", i)
			bare[i] = configs.Config{Account: h.owner.Account, Key: keys[i], Name: keys[i], Items: map[string]configs.Item{},
				Environments: map[string]configs.Overrides{}}
			held[i] = bare[i]
			held[i].Environments = map[string]configs.Overrides{"qa": {"x": json.RawMessage("1")}}
		}
		bytes := func() (found int) {
			h.write(t, func(ctx context.Context, tx *store.Tx) (err error) {
				found, err = tx.ConfigBytes(ctx, h.owner.Account)
				return err
			})
			return found
		}
		h.write(t, func(ctx context.Context, tx *store.Tx) error { return tx.SaveConfigs(ctx, bare...) })
		small := bytes()
		h.write(t, func(ctx context.Context, tx *store.Tx) error { return tx.SaveConfigs(ctx, held...) })
		same(t, bytes() > small, true)
		h.write(t, func(ctx context.Context, tx *store.Tx) error { return configs.StripValues(ctx, tx, h.owner, "qa") })
		same(t, bytes(), small)
		made := h.history(t)
		same(t, len(made), many+1)
		for i, key := range keys {
			if made[i].Key != key || made[i].Action != changes.Cascaded {
				t.Fatalf("got %+v in the place of %s", made[i], key)
			}
		}
		h.write(t, func(ctx context.Context, tx *store.Tx) error {
			count, err := configs.CountValues(ctx, tx, h.owner.Account, "qa")
			same(t, count, 0)
			return err
		})
	})
}
