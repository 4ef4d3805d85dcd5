package imports

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// logic is a rule in JSON Logic. While a rule is translated, true and false stand for rules that match everybody and nobody;
// the resources have neither, see reachable.
type logic any

// everybody is the rule that every context matches, as the server takes it: an object.
func everybody() logic { return apply("!!", true) }

// apply returns an operation.
func apply(operator string, arguments ...any) logic { return map[string]any{operator: arguments} }

// variable returns what reads a member of the context.
func variable(path string) logic { return map[string]any{"var": path} }

// element is the variable for an element of a list, inside of some.
const element = ""

// negate returns the opposite if it is asked for.
func negate(condition logic, negated bool) logic {
	switch {
	case !negated:
		return condition
	case condition == logic(true), condition == logic(false):
		return condition == logic(false)
	}
	return apply("!", condition)
}

// every joins conditions by and; none are always true.
func every(conditions ...logic) logic { return join("and", conditions, true) }

// either joins conditions by or; none are never true.
func either(conditions ...logic) logic { return join("or", conditions, false) }

// join joins conditions. One that is neutral says nothing, and one that is its opposite decides alone.
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

// conditions returns what translate makes of every item, or its first error.
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

// oneOf is true if a variable is one of several values, of the same type.
func oneOf(path string, values []any) logic {
	switch len(values) {
	case 0:
		return false
	case 1:
		if text, is := values[0].(string); is && isWord(text) { // nothing else is converted to a word
			return apply("==", variable(path), values[0])
		}
		return apply("===", variable(path), values[0])
	}
	return apply("in", variable(path), values)
}

// isWord reports whether a text is one that no number and no boolean is converted to.
func isWord(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" || text == "true" || text == "false" || text == "null" {
		return false
	}
	return !strings.ContainsAny(text[:1], "+-.0123456789I") // 0x10 and Infinity are numbers too
}

// anyOf is true if a condition is for one of several values.
func anyOf(values []any, condition func(value any) logic) logic {
	made := make([]logic, len(values))
	for i, value := range values {
		made[i] = condition(value)
	}
	return either(made...)
}

// anyText is true if an operator is for a variable and one of several texts.
func anyText(operator, path string, values []any) logic {
	return anyOf(values, func(value any) logic {
		if operator == "in" { // the part comes first
			return apply(operator, value, variable(path))
		}
		return apply(operator, variable(path), value)
	})
}

// orAny is true if a condition is for a variable, or for an element of the list that the variable is.
func orAny(path string, condition func(path string) logic) logic {
	plain := condition(path)
	if plain == logic(true) || plain == logic(false) {
		return plain
	}
	return either(plain, apply("some", variable(path), condition(element)))
}

// isText is true if a variable is a text: only then it is its own text.
func isText(path string) logic { return apply("===", apply("cat", variable(path)), variable(path)) }

// isNumber is true if a variable is a number.
func isNumber(path string) logic { return apply("===", apply("+", variable(path)), variable(path)) }

// isNumeric is true if a variable is a number or the text of one, which null and "" are not.
func isNumeric(path string) logic { return apply("==", apply("+", variable(path)), variable(path)) }

// isMissing is true if a variable is absent or an empty text.
func isMissing(path string) logic { return apply("in", variable(path), []any{"", nil}) }

// exists is true if a variable is there.
func exists(path string) logic { return apply("!=", variable(path), nil) }

// strictVersion returns a variable as text that sem_ver takes only if it is a version of three numbers without a leading v:
// another v in front is one too many, and a version with a build must be complete.
func strictVersion(path string) logic {
	return apply("if", apply("in", "+", variable(path)), apply("cat", "v", variable(path)), apply("cat", "v", variable(path), "+0"))
}

// portion is a value that a part of all users gets. Without a value the users get what follows.
type portion struct {
	value  json.RawMessage
	weight int
}

// userKey is what users are spread by unless something else is said.
const userKey = "user.key"

// spread says by what users are spread, and who gets the first portion: only those whom the hash gives it, or those too who
// lack what is hashed.
type spread struct {
	by     string
	absent bool
}

// rollout returns the rules that give portions of those who match a condition their values.
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

// share returns the condition that is true for a percentage of the users who have a member of the context.
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

// respread reports that a flag has percentages, once.
func (c *collector) respread(place string) {
	sentence := place + ": its percentages stay the same, but other users get each value, because every system spreads them by a hash of its own."
	if !slices.Contains(c.Lost, sentence) {
		c.Lost = append(c.Lost, sentence)
	}
}

// fractional returns what puts users into buckets by a member of the context.
func fractional(by string, buckets []any) logic {
	if by != userKey {
		buckets = slices.Concat([]any{apply("cat", variable("$flagd.flagKey"), variable(by))}, buckets)
	}
	return apply("fractional", buckets...)
}

// number returns a text as a number.
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

// spellings returns texts as values of a rule for systems whose contexts have nothing but texts: clients here may send the
// number 20 for "20", true for "true", and nothing for "".
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

// attribute returns where an attribute of the user is. A name with a dot would be read as a path.
func attribute(name string) (string, error) {
	if name == "" || strings.Contains(name, ".") {
		return "", fmt.Errorf("it reads %q, and rules cannot read an attribute whose name is empty or has a dot", name)
	}
	return "user." + name, nil
}
