package configs

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
)

// check holds one write against the chains that it touches.
type check struct {
	write   write
	after   *level
	changed map[string]bool // nil: every key, because the parent is another
	levels  map[string]*level

	problems *fault.Problems
	broken   map[string]bool // keys that do not fit already where they are written
	work     *budget
	schemas  *schemas
}

func newCheck(write write, after *level, problems *fault.Problems) *check {
	c := &check{write: write, after: after, problems: problems, broken: map[string]bool{}, work: write.schemas.work,
		schemas: write.schemas, levels: map[string]*level{after.config.Key: after}}
	if write.before != nil && sameText(write.before.Parent, after.config.Parent) {
		c.changed = changedKeys(*write.before, after, c.work)
	}
	return c
}

// reachesBelow tells whether configs below may be affected.
func (c *check) reachesBelow() bool {
	return c.write.before != nil && (c.changed == nil || len(c.changed) > 0)
}

// own checks the config that is written.
func (c *check) own() {
	config := c.after.config
	if c.looking(c.after); c.work.spent() {
		return
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
	c.fit(c.after, func(environment, key string, found breach) {
		c.broken[key] = true
		c.problems.Attribute(c.ownPlace(environment, key, found), "does not fit the schema of %q%s: %s",
			key, inside(environment), found.detail)
	})
}

// inside says in which environment.
func inside(environment string) string {
	if environment == "" {
		return ""
	}
	return " in " + environment
}

// ownPlace is the part of the written config that decides what a key resolves
// to in an environment.
func (c *check) ownPlace(environment, key string, found breach) string {
	_, overridden := c.after.config.Environments[environment][key]
	switch {
	case !overridden:
		return itemPath(key) + "/value" + found.pointer
	case c.write.frozen(environment, key):
		return itemPath(key) // the override itself was not sent
	}
	return overridePath(environment, key) + found.pointer
}

// below checks a config under the one that is written. Parents come before
// their children.
func (c *check) below(config Config) {
	above := c.levels[*config.Parent]
	l := above.under(config.about(c.changed))
	c.levels[config.Key] = l
	if l.depth > MaxDepth {
		c.problems.Attribute("parent", "would make the chain of the config %q longer than %d", config.Key, MaxDepth)
	}
	if c.looking(l); c.work.spent() {
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
	c.fit(l, func(environment, key string, found breach) {
		if c.broken[key] {
			return // and is told where it begins
		}
		place := c.cause(key)
		if c.overridesAnew(environment, key) {
			place = c.ownPlace(environment, key, breach{})
		}
		c.problems.Attribute(place, "would make %q of the config %q below break its schema%s: at %q it has this wrong: %s",
			key, config.Key, inside(environment), found.pointer, found.detail)
	})
}

// cause is the part of the write that a problem of a config below comes from.
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
	case !c.work.same(was.Schema, item.Schema):
		return path + "/schema"
	}
	return path + "/value"
}

// overridesAnew tells whether the write gives a key another override.
func (c *check) overridesAnew(environment, key string) bool {
	is, has := c.after.config.Environments[environment][key]
	was, had := c.write.stored().Environments[environment][key]
	return has && (!had || !c.work.same(was, is))
}

// fit holds what a level's keys resolve to against their schemas. Keys that
// the level says nothing about resolve as its parent's.
func (c *check) fit(l *level, report func(environment, key string, found breach)) {
	chain := l.chain()
	for _, key := range slices.Sorted(l.config.keys()) {
		if c.changed != nil && !c.changed[key] {
			continue
		}
		c.work.spend(time.Duration(len(chain)) * priceOfLookup)
		schemas := schemasOf(chain, key)
		if len(schemas) == 0 {
			continue
		}
		c.work.spend(time.Duration(environmentsAlong(chain)) * priceOfLookup)
		for _, environment := range append([]string{""}, environmentsOf(chain, key)...) {
			found := c.schemas.check(schemas, c.work.valueOf(chain, key, environment))
			for _, each := range found {
				report(environment, key, each)
			}
			if c.work.spent() {
				return
			}
			if len(found) > 0 && environment == "" {
				break // the environments inherit what is wrong
			}
		}
	}
}

// looking pays for finding where keys are declared.
func (c *check) looking(l *level) {
	keys := len(l.config.Items)
	for _, overrides := range l.config.Environments {
		keys += len(overrides)
	}
	if c.work.spend(time.Duration(keys*l.depth) * priceOfLookup); c.work.spent() {
		c.problems.Attribute("items", "take too much work to check, with what the config %q says about them; have fewer of them or a shorter chain",
			l.config.Key)
	}
}
