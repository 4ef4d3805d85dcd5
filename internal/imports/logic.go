package imports

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// logic is a rule in JSON Logic.
type logic any

// apply returns an operation.
func apply(operator string, arguments ...any) logic { return map[string]any{operator: arguments} }

// variable returns what reads a member of the context.
func variable(path string) logic { return map[string]any{"var": path} }

// negate returns the opposite if it is asked for.
func negate(condition logic, negated bool) logic {
	if negated {
		return apply("!", condition)
	}
	return condition
}

// every joins conditions by and; none are always true.
func every(conditions ...logic) logic { return join("and", conditions, true) }

// either joins conditions by or; none are never true.
func either(conditions ...logic) logic { return join("or", conditions, false) }

func join(operator string, conditions []logic, none bool) logic {
	var joined []any
	for _, condition := range conditions {
		if condition != logic(none) || operator == "or" {
			joined = append(joined, condition)
		}
	}
	switch len(joined) {
	case 0:
		return none
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

// oneOf compares a variable with several values.
func oneOf(path string, values []any) logic {
	if len(values) == 1 {
		return apply("==", variable(path), values[0])
	}
	return apply("in", variable(path), values)
}

// anyOf is true if a condition is for one of several values.
func anyOf(values []any, condition func(value any) logic) logic {
	made := make([]logic, len(values))
	for i, value := range values {
		made[i] = condition(value)
	}
	return either(made...)
}

// anyValue is true if an operator is for one of several values.
func anyValue(operator, path string, values []any) logic {
	return anyOf(values, func(value any) logic { return apply(operator, variable(path), value) })
}

// contains is true if a text has one of several parts.
func contains(path string, values []any) logic {
	return anyOf(values, func(value any) logic { return apply("in", value, variable(path)) })
}

// portion is a value that a part of all users gets.
type portion struct {
	value  json.RawMessage
	weight int
}

// userKey is what users are spread by unless something else is said.
const userKey = "user.key"

// rollout returns the rules that give portions of those who match a condition their values.
func (c *collector) rollout(description string, condition logic, portions []portion, by string) (rules []rule) {
	var given []portion
	for _, each := range portions {
		if each.weight > 0 {
			given = append(given, each)
		}
	}
	if len(given) == 1 {
		return []rule{{Description: description, Logic: condition, Value: given[0].value}}
	}
	var buckets []any
	for i, each := range given {
		buckets = append(buckets, []any{strconv.Itoa(i), each.weight})
	}
	for i, each := range given {
		chosen := apply("==", fractional(by, buckets), strconv.Itoa(i))
		rules = append(rules, rule{Description: description, Logic: every(condition, chosen), Value: each.value})
	}
	c.spread = c.spread || len(given) > 1
	return rules
}

// share returns the condition that is true for a percentage of users.
func (c *collector) share(percent float64, by string) logic {
	const parts = 100
	in := int(percent*parts + 0.5)
	if in >= 100*parts {
		return true
	}
	if in <= 0 {
		return false
	}
	c.spread = true
	return apply("==", fractional(by, []any{[]any{"in", in}, []any{"out", 100*parts - in}}), "in")
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
