package configs

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"time"
)

// level is one config of a chain, with those above it.
type level struct {
	config Config
	above  *level // nil at the root
	depth  int    // 1 at the root
}

// under is the level of a config below this one.
func (l *level) under(config Config) *level {
	if l == nil {
		return &level{config: config, depth: 1}
	}
	return &level{config: config, above: l, depth: l.depth + 1}
}

// lowest is the level of a chain's last config; nil when there is none.
func lowest(chain []Config) *level {
	var last *level
	for _, config := range chain {
		last = last.under(config)
	}
	return last
}

// declared finds the item of a key here or above, the nearest first, and the
// config that has it.
func (l *level) declared(key string) (Item, string, bool) {
	for ; l != nil; l = l.above {
		if item, found := l.config.Items[key]; found {
			return item, l.config.Key, true
		}
	}
	return Item{}, "", false
}

// chain gives the configs from the root to this one.
func (l *level) chain() []Config {
	var chain []Config
	for ; l != nil; l = l.above {
		chain = append(chain, l.config)
	}
	slices.Reverse(chain)
	return chain
}

// keys gives the keys that a config says anything about.
func (c Config) keys() iter.Seq[string] {
	keys := map[string]bool{}
	for key := range c.Items {
		keys[key] = true
	}
	for _, overrides := range c.Environments {
		for key := range overrides {
			keys[key] = true
		}
	}
	return maps.Keys(keys)
}

// schemasOf gives the schemas that a key's values must fit at the end of a
// chain: those of all levels.
func schemasOf(chain []Config, key string) (schemas []json.RawMessage) {
	for _, config := range chain {
		if schema := config.Items[key].Schema; schema != nil {
			schemas = append(schemas, schema)
		}
	}
	return schemas
}

// environmentsOf gives the environments in which a key resolves to another
// value than without one.
func environmentsOf(chain []Config, key string) []string {
	found := map[string]bool{}
	for _, config := range chain {
		for environment, overrides := range config.Environments {
			if _, has := overrides[key]; has {
				found[environment] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// environmentsAlong counts what environmentsOf looks at.
func environmentsAlong(chain []Config) (count int) {
	for _, config := range chain {
		count += len(config.Environments)
	}
	return count
}

// valueOf resolves one key; nil when the chain has no value for it. No
// environment is "", which is the key of none.
func (b *budget) valueOf(chain []Config, key, environment string) json.RawMessage {
	var layers stack
	b.spend(2 * time.Duration(len(chain)) * priceOfLookup)
	for _, config := range chain {
		if item, has := config.Items[key]; has {
			layers = layers.with(item.Value)
		}
		if value, has := config.Environments[environment][key]; has {
			layers = layers.with(value)
		}
	}
	if len(layers) > 1 {
		for _, layer := range layers {
			b.spend(reading(layer))
		}
	}
	if layers == nil || b.spent() {
		return nil
	}
	return layers.merge()
}

// changedKeys names the items of which a write may alter what is resolved
// below, as far as a rule looks at it: whether they are declared, their type,
// their schema, and the values of JSON items, which may have to fit a schema.
func changedKeys(was Config, after *level, work *budget) map[string]bool {
	changed := map[string]bool{}
	is := after.config
	for key, item := range was.Items {
		if now, still := is.Items[key]; !still || work.alters(item, now) {
			changed[key] = true
		}
	}
	for key := range is.Items {
		if _, had := was.Items[key]; !had {
			changed[key] = true
		}
	}
	note := func(key string) {
		work.spend(time.Duration(after.depth) * priceOfLookup)
		if item, _, _ := after.declared(key); item.Type == JSON {
			changed[key] = true
		}
	}
	was.overrides(func(environment, key string, value json.RawMessage) {
		if now, still := is.Environments[environment][key]; !changed[key] && (!still || !work.same(value, now)) {
			note(key)
		}
	})
	is.overrides(func(environment, key string, _ json.RawMessage) {
		if _, had := was.Environments[environment][key]; !changed[key] && !had {
			note(key)
		}
	})
	return changed
}

func (b *budget) alters(was, is Item) bool {
	return was.Type != is.Type || !b.same(was.Schema, is.Schema) || (is.Type == JSON && !b.same(was.Value, is.Value))
}

// about is a config with nothing but what it says about some keys; nil keeps
// all. The texts are copies, so that the rest of what was read can go.
func (c Config) about(keys map[string]bool) Config {
	if keys == nil {
		return c
	}
	all := c
	c.Items, c.Environments = map[string]Item{}, map[string]Overrides{}
	for key := range keys {
		if item, has := all.Items[key]; has {
			item.Value, item.Schema, item.Description = bytes.Clone(item.Value), bytes.Clone(item.Schema), nil
			c.Items[key] = item
		}
	}
	for environment, overrides := range all.Environments {
		kept := Overrides{}
		for key, value := range overrides {
			if keys[key] {
				kept[key] = bytes.Clone(value)
			}
		}
		if len(kept) > 0 {
			c.Environments[environment] = kept
		}
	}
	return c
}
