package configs_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/configs"
)

// naive resolves decoded values in the simplest way, for comparison.
func naive(chain []configs.Config, environment *string) (map[string]any, map[string]configs.Origin) {
	found, origins := map[string]any{}, map[string]configs.Origin{}
	lay := func(key string, value json.RawMessage, origin configs.Origin) {
		origins[key] = origin
		if before, exists := found[key]; exists {
			found[key] = merged(before, decoded(value))
			return
		}
		found[key] = decoded(value)
	}
	for _, config := range chain {
		for key, item := range config.Items {
			lay(key, item.Value, configs.Origin{Config: config.Key, Source: configs.Base})
		}
		if environment != nil {
			for key, value := range config.Environments[*environment] {
				lay(key, value, configs.Origin{Config: config.Key, Source: configs.SourceEnvironment})
			}
		}
	}
	return found, origins
}

// merged is the whole rule: objects merge, and any other value replaces the value below.
func merged(below, above any) any {
	lower, isObject := below.(map[string]any)
	upper, isObjectToo := above.(map[string]any)
	if !isObject || !isObjectToo {
		return above
	}
	result := maps.Clone(lower)
	for name, value := range upper {
		if before, exists := result[name]; exists {
			value = merged(before, value)
		}
		result[name] = value
	}
	return result
}

func decoded(text json.RawMessage) (value any) {
	if err := json.Unmarshal(text, &value); err != nil {
		panic(fmt.Sprintf("%s: %v", text, err)) // the texts come from the tests
	}
	return value
}

// anyValue generates JSON texts. It uses few names, so that objects have common members; some
// names are odd, and some occur twice. The innermost objects may have many members.
func anyValue(depth int) *rapid.Generator[string] {
	names := []string{`"a"`, `"b"`, `"\u0061"`, `"é"`, `"\"\\"`, `""`, `"<&>"`, `"c"`, `"d"`, `"e"`, `"f"`, `"g"`, `"h"`, `"i"`, `"j"`, `"k"`, `"l"`, `"m"`, `"n"`, `"o"`}
	scalars := rapid.SampledFrom([]string{`1`, `-0.0`, `1e2`, `"x"`, `""`, `"{}"`, `true`, `false`, `null`, `[]`, `[{"a":1}]`})
	if depth == 0 {
		return scalars
	}
	most := 4
	if depth == 1 {
		most = 24
	}
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 2).Draw(t, "kind") == 0 {
			return scalars.Draw(t, "scalar")
		}
		members := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom(names).Draw(t, "name") + `:` + anyValue(depth-1).Draw(t, "value")
		}), 0, most).Draw(t, "members")
		return "{" + strings.Join(members, ",") + "}"
	})
}

func anyChain() *rapid.Generator[[]configs.Config] {
	key := rapid.SampledFrom([]string{"k1", "k2", "k3", "k4"})
	raw := rapid.Map(anyValue(3), func(text string) json.RawMessage { return json.RawMessage(text) })
	config := rapid.Custom(func(t *rapid.T) configs.Config {
		made := configs.Config{Items: map[string]configs.Item{}, Environments: map[string]configs.Overrides{}}
		for name, value := range rapid.MapOfN(key, raw, 0, 4).Draw(t, "items") {
			made.Items[name] = configs.Item{Type: configs.JSON, Value: value}
		}
		for _, environment := range []string{"production", "staging"} {
			made.Environments[environment] = rapid.MapOfN(key, raw, 0, 3).Draw(t, environment)
		}
		return made
	})
	return rapid.Map(rapid.SliceOfN(config, 1, 6), func(chain []configs.Config) []configs.Config {
		for i := range chain {
			chain[i].Key = fmt.Sprint("config-", i)
		}
		return chain
	})
}

func TestResolve_LikeNaive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chain := anyChain().Draw(t, "chain")
		var environment *string
		if name := rapid.SampledFrom([]string{"", "production", "staging", "other"}).Draw(t, "environment"); name != "" {
			environment = &name
		}
		before := fmt.Sprint(chain)
		resolved := configs.Resolve(chain, environment)
		want, origins := naive(chain, environment)
		got := map[string]any{}
		for key, value := range resolved.Values {
			got[key] = decoded(value)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if !reflect.DeepEqual(resolved.Origins, origins) {
			t.Fatalf("got the origins %v, want %v", resolved.Origins, origins)
		}
		if resolved.Key != chain[len(chain)-1].Key || resolved.Environment != environment {
			t.Fatalf("it is called %s in %v", resolved.Key, resolved.Environment)
		}
		if fmt.Sprint(chain) != before {
			t.Fatal("the chain was changed")
		}
	})
}

func TestResolve_UnmergedValuesKeepBytes(t *testing.T) {
	t.Parallel()
	const odd = `{ "b":1.0,"a" : 1e5, "b":-0.0, "big":12345678901234567890.123 }`
	chain := []configs.Config{
		{Key: "root", Items: map[string]configs.Item{"once": {Value: json.RawMessage(odd)}, "merged": {Value: json.RawMessage(`{"z":` + odd + `,"a":1}`)}}},
		{Key: "leaf", Items: map[string]configs.Item{"merged": {Value: json.RawMessage(`{"a":1.50}`)}}},
	}
	resolved := configs.Resolve(chain, nil)
	same(t, string(resolved.Values["once"]), odd)
	same(t, string(resolved.Values["merged"]), `{"z":`+odd+`,"a":1.50}`)
}

// tenLevels returns a chain of ten configs. Each config has the given number of items, of all
// types.
func tenLevels(items int) []configs.Config {
	var chain []configs.Config
	for depth := range 10 {
		config := configs.Config{Key: fmt.Sprint("level-", depth), Items: map[string]configs.Item{},
			Environments: map[string]configs.Overrides{"production": {}}}
		for i := range items {
			key := fmt.Sprintf("service.setting-%04d", i)
			config.Items[key] = configs.Item{Value: slices.Concat([]json.RawMessage{
				json.RawMessage(`"a text of some length"`), json.RawMessage(`12345`), json.RawMessage(`true`),
				json.RawMessage(fmt.Sprintf(`{"host":"db-%d","port":5432,"pool":{"size":%d}}`, depth, i)),
			})[i%4]}
			if i%10 == 3 {
				config.Environments["production"][key] = json.RawMessage(fmt.Sprintf(`{"pool":{"idle":%d}}`, depth))
			}
		}
		chain = append(chain, config)
	}
	return chain
}

func BenchmarkResolve(b *testing.B) {
	for _, each := range []struct {
		name  string
		items int
	}{{"1,000 items in all", 100}, {"1,000 items on each level", 1000}} {
		b.Run(each.name, func(b *testing.B) {
			chain := tenLevels(each.items)
			for b.Loop() {
				configs.Resolve(chain, new("production"))
			}
		})
	}
}

func TestResolved_MarshalJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		environment := rapid.SampledFrom([]*string{nil, new("production"), new("é\"<")}).Draw(t, "environment")
		resolved := configs.Resolve(anyChain().Draw(t, "chain"), environment)
		text, err := json.Marshal(resolved)
		if err != nil {
			t.Fatal(err)
		}
		type plain configs.Resolved // has no MarshalJSON
		want, err := json.Marshal(plain(resolved))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(decoded(text), decoded(want)) {
			t.Fatalf("got %s, want %s", text, want)
		}
	})
}
