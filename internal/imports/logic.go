package imports

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/rawjson"
)

// logic is a rule in JSON Logic. During the translation, true is a rule that matches everybody, and false is a rule that
// matches nobody. reachable replaces both.
type logic any

// everybody returns a rule that matches every context. It is an object, as the server requires.
func everybody() logic { return apply("!!", true) }

// apply returns an operation.
func apply(operator string, arguments ...any) logic { return map[string]any{operator: arguments} }

// variable returns the operation that reads a member of the context.
func variable(path string) logic { return map[string]any{"var": path} }

// element is the variable that reads the current element of a list inside the operation some.
const element = ""

// negate returns the condition, or its opposite if negated is true.
func negate(condition logic, negated bool) logic {
	switch {
	case !negated:
		return condition
	case condition == logic(true), condition == logic(false):
		return condition == logic(false)
	}
	return apply("!", condition)
}

// every joins conditions with and. Without conditions it returns true.
func every(conditions ...logic) logic { return join("and", conditions, true) }

// either joins conditions with or. Without conditions it returns false.
func either(conditions ...logic) logic { return join("or", conditions, false) }

// join joins conditions. It drops conditions that equal neutral. If one equals the opposite, that is the result.
func join(operator string, conditions []logic, neutral bool) logic {
	var joined []any
	for _, condition := range conditions {
		switch condition {
		case logic(neutral):
		case logic(!neutral):
			return !neutral
		default:
			joined = append(joined, condition)
		}
	}
	switch len(joined) {
	case 0:
		return neutral
	case 1:
		return joined[0]
	}
	return apply(operator, joined...)
}

// conditions translates every item, or returns the first error.
func conditions[T any](items []T, translate func(T) (logic, error)) ([]logic, error) {
	made := make([]logic, len(items))
	for i, item := range items {
		var err error
		if made[i], err = translate(item); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// oneOf returns a condition: the variable equals one of the values and has the same type.
func oneOf(path string, values []any) logic {
	switch len(values) {
	case 0:
		return false
	case 1:
		if text, is := values[0].(string); is && rawjson.IsWord(text) { // no other type converts to a word
			return apply("==", variable(path), values[0])
		}
		return apply("===", variable(path), values[0])
	}
	return apply("in", variable(path), values)
}

// anyOf returns a condition: the given condition is true for one of the values.
func anyOf(values []any, condition func(value any) logic) logic {
	made := make([]logic, len(values))
	for i, value := range values {
		made[i] = condition(value)
	}
	return either(made...)
}

// anyText returns a condition: the operator is true for the variable and one of the texts.
func anyText(operator, path string, values []any) logic {
	return anyOf(values, func(value any) logic {
		if operator == "in" { // the contained text is the first argument
			return apply(operator, value, variable(path))
		}
		return apply(operator, variable(path), value)
	})
}

// orAny returns a condition: it is true for the variable or, if the variable is a list, for one of its elements.
func orAny(path string, condition func(path string) logic) logic {
	plain := condition(path)
	if plain == logic(true) || plain == logic(false) {
		return plain
	}
	return either(plain, apply("some", variable(path), condition(element)))
}

// isText returns a condition: the variable is a text. Only a text stays the same when it is converted to text.
func isText(path string) logic { return apply("===", apply("cat", variable(path)), variable(path)) }

// isNumber returns a condition: the variable is a number.
func isNumber(path string) logic { return apply("===", apply("+", variable(path)), variable(path)) }

// isNumeric returns a condition: the variable is a number or the text of a number. Null and "" are not.
func isNumeric(path string) logic { return apply("==", apply("+", variable(path)), variable(path)) }

// isMissing returns a condition: the variable is absent or an empty text.
func isMissing(path string) logic { return apply("in", variable(path), []any{"", nil}) }

// exists returns a condition: the variable is not null.
func exists(path string) logic { return apply("!=", variable(path), nil) }

// strictVersion returns a text that sem_ver accepts only if the variable is a version of three numbers without a leading v. It
// adds a v, because sem_ver refuses two of them, and a build, because sem_ver requires three numbers before a build.
func strictVersion(path string) logic {
	return apply("if", apply("in", "+", variable(path)), apply("cat", "v", variable(path)), apply("cat", "v", variable(path), "+0"))
}

// portion is the value for a part of the users. If it has no value, later rules decide for these users.
type portion struct {
	value  json.RawMessage
	weight int
}

// userKey is the member by which users are distributed by default.
const userKey = "user.key"

// spread says how users are distributed over portions. by is the member of the context that is hashed. If absent is set,
// users without this member get the first portion.
type spread struct {
	by     string
	absent bool
}

// rollout returns the rules that serve portions to matching contexts.
func (c *collector) rollout(place, description string, condition logic, portions []portion, how spread) (rules []rule) {
	var given []portion
	for _, each := range portions {
		if each.weight > 0 {
			given = append(given, each)
		}
	}
	if len(given) == 1 && given[0].value != nil {
		return []rule{{Description: description, Logic: condition, Value: given[0].value}}
	}
	var buckets []any
	for i, each := range given {
		buckets = append(buckets, []any{strconv.Itoa(i), each.weight})
	}
	for i, each := range given {
		chosen := apply("==", fractional(how.by, buckets), strconv.Itoa(i))
		if i == 0 && how.absent {
			chosen = either(negate(variable(how.by), true), chosen)
		}
		if each.value != nil {
			rules = append(rules, rule{Description: description, Logic: every(condition, chosen), Value: each.value})
		}
	}
	if len(given) > 1 {
		c.respread(place)
	}
	return rules
}

// share returns a condition that is true for a percentage of the users. It is false for users without the member by.
func (c *collector) share(place string, percent float64, by string) logic {
	const parts = 100
	in := int(percent*parts + 0.5)
	switch {
	case in <= 0:
		return false
	case in >= 100*parts:
		return apply("!!", variable(by))
	}
	c.respread(place)
	chosen := apply("==", fractional(by, []any{[]any{"in", in}, []any{"out", 100*parts - in}}), "in")
	if by == userKey {
		return chosen
	}
	return every(variable(by), chosen)
}

// respread reports once that the percentages of a flag choose other users.
func (c *collector) respread(place string) {
	sentence := place + ": its percentages stay the same, but other users get each value, because every system spreads them by a hash of its own."
	if !slices.Contains(c.Lost, sentence) {
		c.Lost = append(c.Lost, sentence)
	}
}

// fractional returns the operation that assigns users to buckets by a member of the context.
func fractional(by string, buckets []any) logic {
	if by != userKey {
		buckets = slices.Concat([]any{apply("cat", variable("$flagd.flagKey"), variable(by))}, buckets)
	}
	return apply("fractional", buckets...)
}

// number parses a text as a number.
func number(text string) (json.Number, error) {
	text = strings.TrimSpace(text)
	if _, err := strconv.ParseFloat(text, 64); err != nil || !json.Valid([]byte(text)) {
		return "", fmt.Errorf("%q is no number", text)
	}
	return json.Number(text), nil
}

// texts returns texts as values of a rule.
func texts(list []string) []any {
	values := make([]any, len(list))
	for i, text := range list {
		values[i] = text
	}
	return values
}

// spellings returns texts as values of a rule, for systems whose contexts have only texts. Clients of Signalbox may send the
// number 20 for "20", true for "true", and nothing for "". So it returns these values too.
func spellings(list []string) []any {
	values := texts(list)
	for _, text := range list {
		switch parsed, err := number(text); {
		case text == "":
			values = append(values, nil)
		case text == "true" || text == "false":
			values = append(values, text == "true")
		case err == nil:
			values = append(values, parsed)
		}
	}
	return values
}

// attribute returns the path of an attribute of the user. It refuses names with a dot, which would look like paths.
func attribute(name string) (string, error) {
	if name == "" || strings.Contains(name, ".") {
		return "", fmt.Errorf("it reads %q, and rules cannot read an attribute whose name is empty or has a dot", name)
	}
	return "user." + name, nil
}
