package configs

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// chain is a config with its ancestors: the root first, the config itself last.
type chain []*Config

func newChain(configs []Config) (c chain) {
	for i := range configs {
		c = append(c, &configs[i])
	}
	return c
}

// with returns the chain of a child of the last config.
func (c chain) with(config Config) chain { return append(slices.Clip(c), &config) }

// above returns the chain of the parent.
func (c chain) above() chain { return c[:len(c)-1] }

// last returns the config that the chain belongs to.
func (c chain) last() *Config { return c[len(c)-1] }

// declared returns the item of a key in the nearest config that has one, and the key of that config.
func (c chain) declared(key string) (Item, string, bool) {
	for _, config := range slices.Backward(c) {
		if item, found := config.Items[key]; found {
			return item, config.Key, true
		}
	}
	return Item{}, "", false
}

// keys returns the sorted keys of a config's items and overrides.
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

// schemas returns all schemas that the configs of the chain have for a key.
func (c chain) schemas(key string) (schemas []json.RawMessage) {
	for _, config := range c {
		if schema := config.Items[key].Schema; schema != nil {
			schemas = append(schemas, schema)
		}
	}
	return schemas
}

// environments returns the environments that override a key. The first element is "", which means no environment.
func (c chain) environments(key string) []string {
	found := map[string]bool{"": true}
	for _, config := range c {
		for environment, overrides := range config.Environments {
			if _, has := overrides[key]; has {
				found[environment] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// layers returns the values that are merged for a key in an environment, or none if the chain has no such value.
func (c chain) layers(key, environment string) (found layers) {
	for _, config := range c {
		if item, has := config.Items[key]; has {
			found = found.with(item.Value)
		}
		if value, has := config.Environments[environment][key]; has {
			found = found.with(value)
		}
	}
	return found
}

// changedKeys returns the keys to check again, in this config and below: added and removed keys, keys with a new type or
// schema, and JSON items with a new value. A value that is only spelled differently counts as changed.
func changedKeys(was Config, after chain) map[string]bool {
	changed, is := map[string]bool{}, after.last()
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

// only returns a config with only these keys, copied so that the rest can be freed; nil keeps all keys.
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
