package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/store"
)

// newConfig returns a config with everything that a config can have, except a parent.
func newConfig(account, key string) configs.Config {
	return configs.Config{
		Account: account, Key: key, Name: oddText, Description: new(oddText),
		Items: map[string]configs.Item{
			oddText: {Value: json.RawMessage(oddValue), Type: configs.JSON, Description: new(oddText),
				Schema: json.RawMessage(`{"type":["object","null"],"minProperties":1.0,"$comment":"\u003c\/"}`)},
			"":  {Value: json.RawMessage(`null`), Type: configs.JSON},
			"a": {Value: json.RawMessage(`"\u0000\ud83d\udea6 é"`), Type: configs.String, Description: new("")},
			"b": {Value: json.RawMessage(`-0.0`), Type: configs.Number},
			"c": {Value: json.RawMessage(`false`), Type: configs.Boolean},
		},
		Environments: map[string]configs.Overrides{
			"production": {oddText: json.RawMessage(oddValue), "b": json.RawMessage(`1E+2`)},
			"staging":    {},
		},
		CreatedAt: at(1), UpdatedAt: at(2),
	}
}

// bareConfig returns a config without items. An empty parent means none.
func bareConfig(account, key, parent string) configs.Config {
	config := configs.Config{Account: account, Key: key, Name: key, Items: map[string]configs.Item{},
		Environments: map[string]configs.Overrides{}, CreatedAt: at(3), UpdatedAt: at(4)}
	if parent != "" {
		config.Parent = &parent
	}
	return config
}

func saveConfigs(t *testing.T, db *store.DB, saved ...configs.Config) {
	t.Helper()
	do(t, db, saved[0].Account, func(ctx context.Context, tx *store.Tx) error {
		for _, config := range saved {
			if err := tx.SaveConfigs(ctx, config); err != nil {
				return err
			}
		}
		return nil
	})
}

func configKeys(found []configs.Config) []string {
	return nameOf(found, func(config configs.Config) string { return config.Key })
}

func configTotals(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	full, bare := newConfig(account, "same"), bareConfig(account, "same", "")
	saveConfigs(t, db, bare, bareConfig(other, "other", ""))
	alone, others := of(t, db, (*store.ReadTx).ConfigBytes, account), of(t, db, (*store.ReadTx).ConfigBytes, other)
	saveConfigs(t, db, full)
	large := of(t, db, (*store.ReadTx).ConfigBytes, account)
	same(t, large > alone, true)
	saveConfigs(t, db, bareConfig(account, "more", ""), full)
	same(t, of(t, db, (*store.ReadTx).ConfigBytes, account), large+alone)
	saveConfigs(t, db, bare)
	same(t, of(t, db, (*store.ReadTx).ConfigBytes, account), 2*alone)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
		return errors.Join(tx.DeleteConfig(ctx, account, "same"), tx.DeleteConfig(ctx, account, "nobody"),
			tx.DeleteConfig(ctx, account, "more"))
	})
	same(t, of(t, db, (*store.ReadTx).ConfigBytes, account), 0)
	same(t, of(t, db, (*store.ReadTx).ConfigBytes, other), others)
	t.Run("many at once", func(t *testing.T) {
		many := []configs.Config{bare, bareConfig(account, "more", ""), bareConfig(account, "most", "")}
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveConfigs(ctx, many...) })
		same(t, of(t, db, (*store.ReadTx).ConfigBytes, account), 3*alone)
		many[0] = full
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveConfigs(ctx, many...) })
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveConfigs(ctx) })
		same(t, of(t, db, (*store.ReadTx).ConfigBytes, account), large+2*alone)
		same(t, find(t, db, (*store.ReadTx).Config, account, "same"), full)
	})
}

func configConcept(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	t.Run("total size", func(t *testing.T) { configTotals(t, db) })
	t.Run("round trip", func(t *testing.T) {
		for _, config := range []configs.Config{newConfig(account, "full"), bareConfig(account, "bare", "full")} {
			saveConfigs(t, db, config)
			same(t, find(t, db, (*store.ReadTx).Config, account, config.Key), config)
			lacks(t, db, (*store.ReadTx).Config, other, config.Key)
		}
	})
	t.Run("keys are case-sensitive and per account", func(t *testing.T) {
		upper, lower, foreign := newConfig(account, "Case"), bareConfig(account, "case", "Case"), bareConfig(other, "case", "")
		saveConfigs(t, db, upper, lower)
		saveConfigs(t, db, foreign)
		same(t, find(t, db, (*store.ReadTx).Config, account, "Case"), upper)
		same(t, find(t, db, (*store.ReadTx).Config, account, "case"), lower)
		same(t, find(t, db, (*store.ReadTx).Config, other, "case"), foreign)
	})
	t.Run("save again replaces", func(t *testing.T) {
		again := bareConfig(account, "full", "")
		saveConfigs(t, db, again)
		same(t, find(t, db, (*store.ReadTx).Config, account, "full"), again)
		same(t, of(t, db, (*store.ReadTx).CountConfigs, account), 4)
		same(t, of(t, db, (*store.ReadTx).CountConfigs, other), 1)
	})
	t.Run("parent must exist", func(t *testing.T) { configParents(t, db) })
	t.Run("chains", func(t *testing.T) { configChains(t, db) })
	t.Run("by environment", func(t *testing.T) { configsWithEnvironment(t, db) })
	t.Run("list", func(t *testing.T) { configList(t, db) })
	t.Run("filters", func(t *testing.T) { configFilters(t, db) })
}

func configParents(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	saveConfigs(t, db, bareConfig(other, "theirs", ""))
	for _, parent := range []string{"nothing", "theirs"} {
		t.Run(parent, func(t *testing.T) {
			if err := db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
				return tx.SaveConfigs(ctx, bareConfig(account, "lost", parent))
			}); err == nil {
				t.Errorf("a config below %s was saved", parent)
			}
		})
	}
	saveConfigs(t, db, bareConfig(account, "parent", ""), bareConfig(account, "child", "parent"))
	remove := func(key string) error {
		return db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteConfig(ctx, account, key) })
	}
	if remove("parent") == nil {
		t.Error("a parent was deleted")
	}
	for _, key := range []string{"child", "parent", "parent"} { // the last deletion finds nothing
		must(t, remove(key))
	}
	same(t, of(t, db, (*store.ReadTx).CountConfigs, account), 0)
	same(t, of(t, db, (*store.ReadTx).CountConfigs, other), 1)
}

func configChains(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	tree := func(account string) []configs.Config {
		return []configs.Config{newConfig(account, "root"), bareConfig(account, "z-left", "root"), bareConfig(account, "right", "root"),
			bareConfig(account, "a-leaf", "z-left"), bareConfig(account, "b-leaf", "right"), bareConfig(account, "alone", "")}
	}
	saveConfigs(t, db, tree(account)...)
	saveConfigs(t, db, append(tree(other), bareConfig(other, "theirs", "a-leaf"))...)
	chain := func(key string) []configs.Config {
		t.Helper()
		return find(t, db, (*store.ReadTx).ConfigChain, account, key)
	}
	below := func(key string) (visited []string) {
		t.Helper()
		get(t, db, func(ctx context.Context, tx *store.ReadTx) (any, error) {
			return nil, tx.EachConfigBelow(ctx, account, key, func(config configs.Config) error {
				visited = append(visited, config.Key)
				return nil
			})
		})
		return visited
	}
	same(t, configKeys(chain("a-leaf")), []string{"root", "z-left", "a-leaf"})
	same(t, chain("z-left"), tree(account)[:2])
	same(t, configKeys(chain("alone")), []string{"alone"})
	same(t, below("root"), []string{"right", "z-left", "a-leaf", "b-leaf"})
	same(t, below("z-left"), []string{"a-leaf"})
	same(t, below("alone"), nil)
	same(t, below("nothing"), nil)
	lacks(t, db, (*store.ReadTx).ConfigChain, account, "theirs")
	children := func(key string, atMost int) []string {
		t.Helper()
		return list(t, db, (*store.ReadTx).ConfigChildren, account, key, atMost)
	}
	same(t, children("root", 9), []string{"right", "z-left"})
	same(t, children("root", 1), []string{"right"})
	same(t, children("a-leaf", 9), nil)
	t.Run("visit ends early", func(t *testing.T) {
		enough := errors.New("enough")
		_, err := tryGet(t, db, func(ctx context.Context, tx *store.ReadTx) (any, error) {
			return nil, tx.EachConfigBelow(ctx, account, "root", func(configs.Config) error { return enough })
		})
		if !errors.Is(err, enough) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("cycle of parents ends", func(t *testing.T) {
		saveConfigs(t, db, bareConfig(account, "root", "a-leaf"))
		if length := len(chain("root")); length < 32 {
			t.Errorf("got a chain of %d", length)
		}
		below("root")
	})
}

func configsWithEnvironment(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	deceptive := bareConfig(account, "deceptive", "") // the name is only in a value
	deceptive.Environments = map[string]configs.Overrides{"x": {"production": json.RawMessage(`"\"production\""`)}}
	saveConfigs(t, db, newConfig(account, "b"), newConfig(account, "a"), bareConfig(account, "none", ""), deceptive)
	saveConfigs(t, db, newConfig(other, "foreign"))
	with := func(environment string) []configs.Config {
		t.Helper()
		return find(t, db, (*store.ReadTx).ConfigsWithEnvironment, account, environment)
	}
	same(t, with("production"), []configs.Config{newConfig(account, "a"), newConfig(account, "b")})
	same(t, configKeys(with("x")), []string{"deceptive"})
	for _, none := range []string{"Production", "productio_", "%", "b"} {
		same(t, len(with(none)), 0)
	}
}

func configList(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	saveConfigs(t, db, newConfig(newAccount(t, db).ID, "foreign"))
	var written []configs.Config
	for i, name := range oddNames() {
		config := bareConfig(account, "k"+strconv.Itoa(i*7%10)+strconv.Itoa(i), "")
		config.Name, config.CreatedAt, config.UpdatedAt = name, at(i%3), at(i%4)
		written = append(written, config)
	}
	saveConfigs(t, db, written...)
	listing[configs.Config, configs.Filter]{
		read: (*store.ReadTx).Configs, id: func(config configs.Config) string { return config.Key },
		byDefault: "key", fields: []string{"key", "name", "created_at", "updated_at"},
	}.check(t, db, account, written)
}

func configFilters(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	saveConfigs(t, db, bareConfig(account, "k-root", ""))
	names, _ := searches()
	for i, name := range names {
		config := bareConfig(account, "k"+strconv.Itoa(i), "k-root")
		config.Name = name
		saveConfigs(t, db, config)
	}
	checkSearch(t, func(t *testing.T, text string) (found []string) {
		return nameOf(matches(t, db, (*store.ReadTx).Configs, account, configs.Filter{Search: text, Parent: optional.Of("k-root")}),
			func(config configs.Config) string { return config.Name })
	})
	for _, each := range []struct {
		filter configs.Filter
		want   int
	}{
		{configs.Filter{}, len(names) + 1},
		{configs.Filter{Search: "K1"}, 1},
		{configs.Filter{Parent: optional.Of("k-root")}, len(names)},
		{configs.Filter{Parent: optional.Of("K-root")}, 0},
		{configs.Filter{Parent: optional.Of("")}, 1},
		{configs.Filter{Parent: optional.Of(""), Search: "k1"}, 0},
	} {
		t.Run(fmt.Sprintf("%+v", each.filter), func(t *testing.T) {
			found := matches(t, db, (*store.ReadTx).Configs, account, each.filter)
			if len(found) != each.want {
				t.Errorf("%+v finds %s, want %d", each.filter, slices.Sorted(slices.Values(configKeys(found))), each.want)
			}
		})
	}
}
