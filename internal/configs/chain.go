package configs

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// level is one config of a chain, with those above it.
type level struct {
	config Config
	above  *level // nil at the root
	depth  int    // 1 at the root
}

// under returns the level of a config below this one.
func (l *level) under(config Config) *level {
	if l == nil {
		return &level{config: config, depth: 1}
	}
	return &level{config: config, above: l, depth: l.depth + 1}
}

// lowest returns the level of a chain's last config; nil when there is none.
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

// chain returns the configs from the root to this one.
func (l *level) chain() []Config {
	var chain []Config
	for ; l != nil; l = l.above {
		chain = append(chain, l.config)
	}
	slices.Reverse(chain)
	return chain
}

// keys returns the keys that a config has an item or an override of, sorted.
func (c Config) keys() []string {
	keys := map[string]bool{}
	for key := range c.Items {
		keys[key] = true
	}
	for _, overrides := range c.Environments {
		for key := range overrides {
			keys[key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// schemasOf returns the schemas of all levels of a chain for a key.
func schemasOf(chain []Config, key string) (schemas []json.RawMessage) {
	for _, config := range chain {
		if schema := config.Items[key].Schema; schema != nil {
			schemas = append(schemas, schema)
		}
	}
	return schemas
}

// environmentsOf returns the environments that override a key, after "", which
// is none.
func environmentsOf(chain []Config, key string) []string {
	found := map[string]bool{"": true}
	for _, config := range chain {
		for environment, overrides := range config.Environments {
			if _, has := overrides[key]; has {
				found[environment] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// layersOf returns what one key is merged from; none when the chain has no
// value for it. No environment is "".
func layersOf(chain []Config, key, environment string) (found layers) {
	for _, config := range chain {
		if item, has := config.Items[key]; has {
			found = found.with(item.Value)
		}
		if value, has := config.Environments[environment][key]; has {
			found = found.with(value)
		}
	}
	return found
}

// changedKeys returns the keys of which a write may alter what is checked here
// and below: whether they are declared, their type, their schema, and the values
// of JSON items. A value that is only spelled differently counts as changed.
func changedKeys(was Config, after *level) map[string]bool {
	changed, is := map[string]bool{}, after.config
	for key, item := range was.Items {
		now, still := is.Items[key]
		changed[key] = !still || item.Type != now.Type || !bytes.Equal(item.Schema, now.Schema) ||
			(now.Type == JSON && !bytes.Equal(item.Value, now.Value))
	}
	for key := range is.Items {
		if _, had := was.Items[key]; !had {
			changed[key] = true
		}
	}
	compare := func(some, others map[string]Overrides) {
		for environment, overrides := range some {
			for key, value := range overrides {
				if changed[key] || bytes.Equal(value, others[environment][key]) {
					continue
				}
				item, _, _ := after.declared(key)
				changed[key] = item.Type == JSON
			}
		}
	}
	compare(was.Environments, is.Environments)
	compare(is.Environments, was.Environments)
	maps.DeleteFunc(changed, func(_ string, is bool) bool { return !is })
	return changed
}

// only returns a config with nothing but its items and overrides of some keys;
// nil keeps all. The texts are copied, so that the rest of what was read can be
// freed.
func (c Config) only(keys map[string]bool) Config {
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
