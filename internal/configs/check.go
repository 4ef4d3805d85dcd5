package configs

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/internal/fault"
)

// check notes what one write would break in the chains that it touches.
type check struct {
	write   write
	after   *level
	changed map[string]bool // nil: every key, because the parent is another
	levels  map[string]*level

	problems *fault.Problems
	broken   map[string]bool // keys that do not fit already where they are written
	schemas  *schemas
}

func newCheck(write write, after *level, problems *fault.Problems) *check {
	return &check{write: write, after: after, problems: problems, broken: map[string]bool{}, schemas: write.schemas,
		levels: map[string]*level{after.config.Key: after}}
}

// reachesBelow reports whether configs below must be checked as well.
func (c *check) reachesBelow() bool {
	return c.write.before != nil && (c.changed == nil || len(c.changed) > 0) && !c.schemas.work.spent()
}

// own checks the config that is written.
func (c *check) own() {
	config := c.after.config
	if !c.lookUp(c.after) {
		return
	}
	if c.write.before != nil && sameText(c.write.before.Parent, config.Parent) {
		c.changed = changedKeys(*c.write.before, c.after)
	}
	for _, key := range slices.Sorted(maps.Keys(config.Items)) {
		if above, by, found := c.after.above.declared(key); found && above.Type != config.Items[key].Type {
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

// ownPath returns the part of the written config that decides what a key
// resolves to in an environment, and a place in it.
func (c *check) ownPath(environment, key, pointer string) string {
	_, overridden := c.after.config.Environments[environment][key]
	switch {
	case !overridden:
		return itemPath(key) + "/value" + pointer
	case c.write.frozen(environment, key):
		return itemPath(key) // the override itself was not sent
	}
	return overridePath(environment, key) + pointer
}

// below checks a config under the one that is written. Parents come before
// their children.
func (c *check) below(config Config) {
	above := c.levels[*config.Parent]
	l := above.under(config.only(c.changed))
	c.levels[config.Key] = l
	if l.depth > MaxDepth {
		c.problems.Attribute("parent", "would make the chain of the config %q longer than %d", config.Key, MaxDepth)
	}
	if !c.lookUp(l) {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(l.config.Items)) {
		if item, _, found := above.declared(key); found && item.Type != l.config.Items[key].Type {
			c.problems.Attribute(c.cause(key), "does not agree with the config %q below, which declares %q as %s",
				config.Key, key, l.config.Items[key].Type)
		}
	}
	l.config.overrides(func(environment, key string, value json.RawMessage) {
		item, _, found := l.declared(key)
		switch {
		case !found:
			c.problems.Attribute(c.cause(key), "would leave the config %q below without an item %q, which it overrides in %s",
				config.Key, key, environment)
		case !item.Type.fits(value):
			c.problems.Attribute(c.cause(key), "does not agree with the config %q below, whose override of %q in %s is not %s",
				config.Key, key, environment, item.Type.noun())
		}
	})
	c.fit(l, func(environment, key string, found violation) {
		if c.broken[key] {
			return // it is reported where it begins
		}
		path := c.cause(key)
		if c.changesOverride(environment, key) {
			path = c.ownPath(environment, key, "")
		}
		c.problems.Attribute(path, "would make %q of the config %q below break its schema%s: at %q it has this wrong: %s",
			key, config.Key, inside(environment), found.pointer, found.detail)
	})
}

// cause returns the part of the write that a problem of a config below comes
// from.
func (c *check) cause(key string) string {
	item, declares := c.after.config.Items[key]
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
	is, has := c.after.config.Environments[environment][key]
	return has && !bytes.Equal(is, c.write.stored().Environments[environment][key])
}

// fit checks what a level's keys resolve to against their schemas. Keys that
// the level has nothing of resolve as its parent's.
func (c *check) fit(l *level, report func(environment, key string, found violation)) {
	chain := l.chain()
	for _, key := range l.config.keys() {
		if c.changed != nil && !c.changed[key] {
			continue
		}
		schemas := schemasOf(chain, key)
		if len(schemas) == 0 {
			continue
		}
		for _, config := range chain {
			c.schemas.work.spend(len(config.Environments) / lookupsPerStep)
		}
		for _, environment := range environmentsOf(chain, key) {
			found := c.schemas.check(schemas, layersOf(chain, key, environment))
			for _, each := range found {
				report(environment, key, each)
			}
			if c.schemas.work.spent() {
				return
			}
			if len(found) > 0 && environment == "" {
				break // the environments inherit what is wrong
			}
		}
	}
}

// lookUp spends the work of finding where the keys of a level are declared and
// reports whether there was enough left.
func (c *check) lookUp(l *level) bool {
	keys := len(l.config.Items)
	for _, overrides := range l.config.Environments {
		keys += len(overrides)
	}
	enough := c.schemas.work.spend(keys * l.depth / lookupsPerStep)
	if !enough {
		c.problems.Attribute("items", "take too much work to check, with what the config %q has of them; have fewer of them or a shorter chain",
			l.config.Key)
	}
	return enough
}
