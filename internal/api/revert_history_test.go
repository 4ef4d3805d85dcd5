package api_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/suite"
)

// step is one write of a random history. The rules may refuse it.
type step struct{ method, path, body string }

// anyStep generates writes to a few resources of every product. Environments with
// values are deleted with their values, because frozen values cannot be written again.
func anyStep() *rapid.Generator[step] {
	return rapid.OneOf(
		anyWrite(flagsPath, []string{"f1", "f2"}, "", func(t *rapid.T) attributes {
			return boolean(rapid.Bool().Draw(t, "default"), attributes{"environments": inSome(t, func() any {
				return attributes{"enabled": rapid.Bool().Draw(t, "enabled"), "default": oneOf(t, nil, true, false), "rules": anyRules(t)}
			}), "description": oneOf(t, nil, "a <b> & 'ü'")})
		}),
		anyWrite(loggersPath, []string{"a", "a.b", "c"}, "", func(t *rapid.T) attributes {
			return attributes{"level": oneOf(t, nil, "DEBUG", "WARN"), "group": oneOf(t, nil, nil, "g1"), "environments": inSome(t, func() any {
				return attributes{"level": oneOf(t, "TRACE", "ERROR"), "ttl_seconds": oneOf(t, nil, nil, 3600)}
			})}
		}),
		anyWrite(groupsPath, []string{"g1", "g2"}, "", func(t *rapid.T) attributes {
			return attributes{"name": oneOf(t, "N", "M"), "level": oneOf(t, nil, "INFO", "FATAL"), "level_ttl_seconds": nil}
		}),
		anyWrite(configsPath, []string{"c1", "c2", "c3"}, "", func(t *rapid.T) attributes {
			return attributes{"parent": oneOf(t, nil, "common", "c1", "c2"), "items": anyItems(t), "environments": inSome(t, func() any {
				return rapid.MapOfN(rapid.SampledFrom([]string{"x", "y"}), rapid.IntRange(0, 9), 0, 2).Draw(t, "overrides")
			})}
		}),
		anyWrite(jobsPath, []string{"j1", "j2"}, "", func(t *rapid.T) attributes {
			return job(attributes{"enabled": rapid.Bool().Draw(t, "enabled"), "configuration": attributes{"url": nowhere + "?a=" + oneOf(t, "1", "2").(string),
				"body": oneOf(t, nil, "", "one", "two"), "headers": []attributes{{"name": "X", "value": oneOf(t, "secret", "other")}}}})
		}),
		anyWrite(environmentsPath, []string{"qa"}, "?cascade=true", func(t *rapid.T) attributes {
			return attributes{"name": oneOf(t, "QA", "Quality"), "color": oneOf(t, nil, "#123456"), "classification": oneOf(t, "STANDARD", "AD_HOC")}
		}),
		anyWrite(environmentsPath, []string{"lab"}, "", func(t *rapid.T) attributes {
			return attributes{"name": "Lab", "managed": rapid.Bool().Draw(t, "managed"), "classification": oneOf(t, "STANDARD", "AD_HOC")}
		}),
		anyWrite(servicesPath, []string{"s1"}, "", func(t *rapid.T) attributes { return attributes{"name": oneOf(t, "S", "T")} }),
		anyWrite(typesPath, []string{"t1"}, "", func(t *rapid.T) attributes {
			return attributes{"name": "T", "attributes": oneOf(t, attributes{}, attributes{"plan": attributes{}})}
		}),
		rapid.Custom(func(t *rapid.T) step {
			path := oneOf(t, accountPath, settingsPath, ownSettingsPath).(string)
			return step{"PUT", path, envelope("", "", attributes{"name": oneOf(t, "A", "B"), "theme": rapid.IntRange(0, 3).Draw(t, "theme")})}
		}),
	)
}

// anyWrite generates creations, replacements and deletions below a path.
func anyWrite(path string, keys []string, deleting string, draft func(*rapid.T) attributes) *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		key, wanted := rapid.SampledFrom(keys).Draw(t, "key"), draft(t)
		switch rapid.IntRange(0, 5).Draw(t, "method") {
		case 0:
			return step{"DELETE", path + "/" + key + deleting, ""}
		case 1, 2:
			return step{"POST", path, envelope("", key, wanted)}
		}
		return step{"PUT", path + "/" + key, envelope("", "", wanted)}
	})
}

func oneOf(t *rapid.T, values ...any) any { return rapid.SampledFrom(values).Draw(t, "one") }

// inSome returns values for some of the environments.
func inSome(t *rapid.T, value func() any) attributes {
	made := attributes{}
	for _, environment := range []string{"production", "qa"} {
		if rapid.Bool().Draw(t, environment) {
			made[environment] = value()
		}
	}
	return made
}

func anyRules(t *rapid.T) []attributes {
	rules := []attributes{}
	for i := range rapid.IntRange(0, 2).Draw(t, "rules") {
		rules = append(rules, attributes{"description": "r" + strconv.Itoa(i), "logic": attributes{"==": []any{attributes{"var": "user.key"}, i}},
			"value": rapid.Bool().Draw(t, "value")})
	}
	return rules
}

func anyItems(t *rapid.T) attributes {
	items := attributes{}
	for _, key := range []string{"x", "y"} {
		if rapid.Bool().Draw(t, key) {
			items[key] = attributes{"value": rapid.IntRange(0, 9).Draw(t, "value"), "type": "NUMBER"}
		}
	}
	return items
}

// wholeState returns the configured attributes of every resource that the history changes. The order
// of environments is not a part of them.
func wholeState(c client) map[string]any {
	c.t.Helper()
	state := map[string]any{}
	for _, path := range []string{flagsPath, loggersPath, groupsPath, configsPath, jobsPath, environmentsPath, servicesPath, typesPath} {
		for _, each := range c.get(path).want(200).page().Data {
			state[path+"/"+each.ID] = defined(each.Attributes)
		}
	}
	for _, path := range []string{accountPath, settingsPath, ownSettingsPath} {
		attributes := defined(c.get(path).want(200).data().Attributes)
		delete(attributes, "environment_order")
		state[path] = attributes
	}
	return state
}

// revertAll reverts the changes after a number, newest first, except those that summarize others.
func revertAll(c client, after int) {
	c.t.Helper()
	for seq := c.seq(); seq > after; seq-- {
		if c.get(changePath(seq)).want(200).attribute("key") == "*" {
			c.revert(changePath(seq)).want(409)
			continue
		}
		c.revert(changePath(seq)).want(200)
	}
}

// TestRevert_WholeHistory reverts the last 50 changes of random histories and then
// the reverts.
func TestRevert_WholeHistory(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, first client) {
		for seed := range suite.Scale(1, 100) {
			t.Run(strconv.Itoa(seed), func(t *testing.T) {
				t.Parallel()
				owner := first.in(t).account("pro")
				owner.get(configsPath).want(200) // the first read makes the common one
				steps := rapid.SliceOfN(anyStep(), 400, 400).Example(seed)
				steps = write(owner, steps, 30)
				start, before := owner.seq(), wholeState(owner)
				write(owner, steps, 50)
				end, after := owner.seq(), wholeState(owner)
				revertAll(owner, start)
				if difference := cmp.Diff(before, wholeState(owner)); difference != "" {
					t.Errorf("reverted: want (-), got (+):\n%s", difference)
				}
				revertAll(owner, end)
				if difference := cmp.Diff(after, wholeState(owner)); difference != "" {
					t.Errorf("the reverts reverted: want (-), got (+):\n%s", difference)
				}
			})
		}
	})
}

// write takes random steps until there are enough new changes, and returns the remaining steps.
func write(owner client, steps []step, changes int) []step {
	owner.t.Helper()
	for end := owner.seq() + changes; owner.seq() < end; steps = steps[1:] {
		if len(steps) == 0 {
			owner.t.Fatal("the rules refuse too much")
		}
		owner.send(steps[0].method, steps[0].path, steps[0].body)
	}
	return steps
}
