package summary

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/internal/condition"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// rule is a rule of a flag in one environment.
type rule struct {
	description string
	logic       condition.Logic
	content     string  // the logic, to compare
	form        string  // the logic without its percentage, to compare
	percent     float64 // the share of contexts that it selects
	isShare     bool
	value       string
	serves      string // the value, to compare
}

// pair is a rule before and after a change, by its place in each list.
type pair struct{ was, is int }

// rules compares the rules of an environment. Equal rules are found by their content.
// Of the others, the most similar rules count as one rule that was changed.
func (c *comparison) rules(environment, pointer string, before, after json.RawMessage) {
	was, is := parseRules(before), parseRules(after)
	pairs := match(was, is)
	kept := inOrder(pairs)
	left, from := make([]bool, len(was)), make(map[int]pair, len(pairs))
	for _, p := range pairs {
		left[p.was], from[p.is] = true, p
	}
	for at, old := range was {
		if !left[at] {
			c.say(environment, pointer, "− Rule %d: %s", at+1, old.text())
		}
	}
	for at, current := range is {
		p, found := from[at]
		if !found {
			c.say(environment, pointer, "+ Rule %d: %s", at+1, current.text())
			continue
		}
		if !kept[p] {
			c.say(environment, pointer, "Rule %d moved to %d", p.was+1, at+1)
		}
		c.rule(environment, fmt.Sprintf("%s/%d", pointer, at), at+1, was[p.was], current)
	}
}

// parseRules reads rules. Anything that is not a list has none.
func parseRules(text json.RawMessage) []rule {
	var stored []struct {
		Description  string
		Logic, Value json.RawMessage
	}
	_ = json.Unmarshal(rawjson.OrNull(text), &stored)
	rules := make([]rule, len(stored))
	for i, each := range stored {
		logic, _ := condition.Decode(each.Logic) // a stored rule can be read
		rules[i] = rule{description: each.Description, logic: logic, content: encode(logic), value: value(each.Value), serves: string(rawjson.Canonical(rawjson.OrNull(each.Value)))}
		rules[i].percent, rules[i].isShare = condition.Percent(logic)
		rules[i].form = rules[i].content
		if rules[i].isShare {
			same, _ := condition.SetPercent(logic, 0)
			rules[i].form = encode(same)
		}
	}
	return rules
}

// encode returns logic in a form in which equal logic has equal text.
func encode(logic condition.Logic) string {
	text, err := json.Marshal(logic)
	if err != nil { // it was JSON
		return fmt.Sprint(logic)
	}
	return string(rawjson.Canonical(text))
}

// rule says how a rule differs from its earlier state.
func (c *comparison) rule(environment, pointer string, number int, was, is rule) {
	if was.description != is.description {
		c.say(environment, pointer+"/description", "Rule %d: description %q → %q", number, was.description, is.description)
	}
	switch {
	case was.content == is.content:
	case was.form == is.form:
		c.say(environment, pointer+"/logic", "Rule %d: rollout %v %% → %v %%", number, was.percent, is.percent)
	default:
		c.say(environment, pointer+"/logic", "Rule %d: if %s → if %s", number, was.condition(), is.condition())
	}
	if was.serves != is.serves {
		c.say(environment, pointer+"/value", "Rule %d serves %s → %s", number, was.value, is.value)
	}
}

// text returns a rule as a clause.
func (r rule) text() string { return fmt.Sprintf("if %s, serve %s", r.condition(), r.value) }

// condition returns the rule's condition for people.
func (r rule) condition() string { return cut(condition.Sentence(r.logic)) }

// likeness is what two rules have in common. Rules without any are not alike.
type likeness struct{ description, content, form, serves string }

// likenesses are what makes two rules one, the closest first.
func likenesses() []func(r rule) likeness {
	return []func(r rule) likeness{
		func(r rule) likeness {
			return likeness{description: r.description, content: r.content, serves: r.serves}
		},
		func(r rule) likeness { return likeness{content: r.content, serves: r.serves} },
		func(r rule) likeness { return likeness{content: r.content} },
		func(r rule) likeness { return likeness{form: r.form} },
		func(r rule) likeness { return likeness{description: r.description} },
	}
}

// match pairs the rules of two lists, the most alike first. A flag may have thousands of rules, so it looks them up.
func match(was, is []rule) (pairs []pair) {
	oldTaken, newTaken := make([]bool, len(was)), make([]bool, len(is))
	take := func(i, j int) {
		oldTaken[i], newTaken[j] = true, true
		pairs = append(pairs, pair{i, j})
	}
	for _, of := range likenesses() {
		free := map[likeness][]int{} // the rules that have no pair yet, in their order
		for j := range is {
			if key := of(is[j]); !newTaken[j] && key != (likeness{}) {
				free[key] = append(free[key], j)
			}
		}
		for i := range was {
			if oldTaken[i] {
				continue
			}
			key := of(was[i])
			if same := free[key]; len(same) > 0 {
				take(i, same[0])
				free[key] = same[1:]
			}
		}
	}
	for at := range min(len(was), len(is)) { // a rule that was edited where it is
		if len(was) == len(is) && !oldTaken[at] && !newTaken[at] && was[at].serves == is[at].serves {
			take(at, at)
		}
	}
	return pairs
}

// inOrder returns the largest set of pairs whose rules kept their order. The others
// were moved.
func inOrder(pairs []pair) map[pair]bool {
	sorted := slices.SortedFunc(slices.Values(pairs), func(a, b pair) int { return b.is - a.is })
	// begins[n] begins a set of n+1 pairs in order: the one with the last place before the change. next leads through the set.
	begins, next := []int{}, make([]int, len(sorted))
	for i, each := range sorted {
		n, _ := slices.BinarySearchFunc(begins, each.was, func(begin, was int) int { return was - sorted[begin].was })
		next[i] = -1
		if n > 0 {
			next[i] = begins[n-1]
		}
		if n == len(begins) {
			begins = append(begins, i)
		} else {
			begins[n] = i
		}
	}
	kept := map[pair]bool{}
	if len(begins) == 0 {
		return kept
	}
	for at := begins[len(begins)-1]; at >= 0; at = next[at] {
		kept[sorted[at]] = true
	}
	return kept
}
