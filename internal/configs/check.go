package configs

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/internal/fault"
)

// check finds the problems that one write would cause in the chains that it touches.
type check struct {
	write   write
	after   chain           // the chain of the config as it is written
	changed map[string]bool // nil means every key, because the parent changed
	chains  map[string]chain

	problems *fault.Problems
	broken   map[string]bool // keys whose value breaks a schema in the written config itself
	schemas  *schemas
}

func newCheck(write write, after chain, problems *fault.Problems) *check {
	return &check{write: write, after: after, problems: problems, broken: map[string]bool{}, schemas: write.schemas,
		chains: map[string]chain{after.last().Key: after}}
}

// reachesBelow reports whether the configs below must be checked too.
func (c *check) reachesBelow() bool {
	return c.write.before != nil && (c.changed == nil || len(c.changed) > 0) && !c.schemas.work.spent()
}

// own checks the config that is written.
func (c *check) own() {
	config := c.after.last()
	if !c.lookUp(c.after) {
		return
	}
	if c.write.before != nil && sameText(c.write.before.Parent, config.Parent) {
		c.changed = changedKeys(*c.write.before, c.after)
	}
	for _, key := range slices.Sorted(maps.Keys(config.Items)) {
		if above, by, found := c.after.above().declared(key); found && above.Type != config.Items[key].Type {
			c.problems.Attribute(itemPath(key)+"/type", "must be %s, as the config %q above declares it", above.Type, by)
		}
	}
	config.overrides(func(environment, key string, value json.RawMessage) {
		item, _, found := c.after.declared(key)
		frozen := c.write.frozen(environment, key)
		switch {
		case !found && frozen:
			c.problems.Attribute("parent", "would leave %q without an item, and its override in %s is frozen", key, environment)
		case !found:
			c.problems.Attribute(overridePath(environment, key), "overrides an item that neither this config nor one above it declares")
		case item.Type.fits(value):
		case frozen:
			c.problems.Attribute(itemPath(key), "must not become %s: its override in %s, which is frozen, is not %s",
				item.Type, environment, item.Type.noun())
		default:
			c.problems.Attribute(overridePath(environment, key), "must be %s, as the item is %s", item.Type.noun(), item.Type)
		}
	})
	c.fit(c.after, func(environment, key string, found violation) {
		c.broken[key] = true
		c.problems.Attribute(c.ownPath(environment, key, found.pointer), "does not fit the schema of %q%s: %s",
			key, inside(environment), found.detail)
	})
}

func inside(environment string) string {
	if environment == "" {
		return ""
	}
	return " in " + environment
}

// ownPath returns the path in the written config that decides the value of a key in an environment.
func (c *check) ownPath(environment, key, pointer string) string {
	_, overridden := c.after.last().Environments[environment][key]
	switch {
	case !overridden:
		return itemPath(key) + "/value" + pointer
	case c.write.frozen(environment, key):
		return itemPath(key) // the request did not send the override
	}
	return overridePath(environment, key) + pointer
}

// below checks a descendant of the written config. Parents come before their children.
func (c *check) below(config Config) {
	above := c.chains[*config.Parent]
	chain := above.with(config.only(c.changed))
	c.chains[config.Key] = chain
	if len(chain) > MaxDepth {
		c.problems.Attribute("parent", "would make the chain of the config %q longer than %d", config.Key, MaxDepth)
	}
	if !c.lookUp(chain) {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(chain.last().Items)) {
		if item, _, found := above.declared(key); found && item.Type != chain.last().Items[key].Type {
			c.problems.Attribute(c.cause(key), "does not agree with the config %q below, which declares %q as %s",
				config.Key, key, chain.last().Items[key].Type)
		}
	}
	chain.last().overrides(func(environment, key string, value json.RawMessage) {
		item, _, found := chain.declared(key)
		switch {
		case !found:
			c.problems.Attribute(c.cause(key), "would leave the config %q below without an item %q, which it overrides in %s",
				config.Key, key, environment)
		case !item.Type.fits(value):
			c.problems.Attribute(c.cause(key), "does not agree with the config %q below, whose override of %q in %s is not %s",
				config.Key, key, environment, item.Type.noun())
		}
	})
	c.fit(chain, func(environment, key string, found violation) {
		if c.broken[key] {
			return // own has reported this already
		}
		path := c.cause(key)
		if c.changesOverride(environment, key) {
			path = c.ownPath(environment, key, "")
		}
		c.problems.Attribute(path, "would make %q of the config %q below break its schema%s, at %q: %s",
			key, config.Key, inside(environment), found.pointer, found.detail)
	})
}

// cause returns the path of the change that causes a problem in a descendant.
func (c *check) cause(key string) string {
	item, declares := c.after.last().Items[key]
	if !declares && c.changed == nil {
		return "parent"
	}
	path := itemPath(key)
	was, declared := c.write.stored().Items[key]
	switch {
	case !declares && !declared:
		return "environments" // an override was removed
	case !declares || !declared:
		return path
	case was.Type != item.Type:
		return path + "/type"
	case !bytes.Equal(was.Schema, item.Schema):
		return path + "/schema"
	}
	return path + "/value"
}

// changesOverride reports whether the write adds or changes an override.
func (c *check) changesOverride(environment, key string) bool {
	is, has := c.after.last().Environments[environment][key]
	return has && !bytes.Equal(is, c.write.stored().Environments[environment][key])
}

// fit checks the values of the last config's own keys against their schemas. All other values come from its parent.
func (c *check) fit(chain chain, report func(environment, key string, found violation)) {
	for _, key := range chain.last().keys() {
		schemas := chain.schemas(key)
		if len(schemas) == 0 || (c.changed != nil && !c.changed[key]) {
			continue
		}
		for _, config := range chain {
			c.schemas.work.spend(len(config.Environments) / lookupsPerStep)
		}
		for _, environment := range chain.environments(key) {
			c.schemas.work.spend(1 + len(chain)/lookupsPerStep)
			found := c.schemas.check(schemas, chain.layers(key, environment))
			for _, each := range found {
				report(environment, key, each)
			}
			if c.schemas.work.spent() {
				return
			}
			if len(found) > 0 && environment == "" {
				break // the environments inherit this violation
			}
		}
	}
}

// lookUp counts the work of looking up the items of the last config, and reports whether the limit allows it.
func (c *check) lookUp(chain chain) bool {
	config := chain.last()
	keys := len(config.Items)
	for _, overrides := range config.Environments {
		keys += len(overrides)
	}
	enough := c.schemas.work.spend(keys * len(chain) / lookupsPerStep)
	if !enough {
		c.problems.Attribute("items", "take too much work to check, together with the items of the config %q; have fewer items or a shorter chain",
			config.Key)
	}
	return enough
}
