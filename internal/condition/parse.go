package condition

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/signalbox/signalbox/internal/rawjson"
)

// Logic is a rule of JSON Logic, decoded.
type Logic = any

// operators returns the comparisons as people type them and in JSON Logic. Longer operators come first.
func operators() []struct{ typed, logic string } {
	return []struct{ typed, logic string }{
		{"not in", "not in"}, {"in", "in"}, {"contains", "contains"}, {"starts with", "starts_with"}, {"ends with", "ends_with"},
		{"==", "=="}, {"!=", "!="}, {">=", ">="}, {"<=", "<="}, {">", ">"}, {"<", "<"}, {"=", "=="},
	}
}

const help = `a condition such as 'user.plan in pro,team', 'user.age >= 18 and user.country == NO', or JSON Logic`

// Parse returns the JSON Logic of a condition. A text that begins with { is JSON Logic already.
func Parse(text string) (Logic, error) {
	if text = strings.TrimSpace(text); strings.HasPrefix(text, "{") {
		logic, err := Decode([]byte(text))
		if err != nil {
			return nil, fmt.Errorf(`%q is not JSON, such as {"==": [{"var": "user.plan"}, "pro"]}`, text)
		}
		return logic, nil
	}
	var parts []any
	for _, clause := range split(text, " and ") {
		part, err := parseClause(strings.TrimSpace(clause))
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return And(parts...), nil
}

// Decode reads JSON Logic. Numbers keep their spelling.
func Decode(text []byte) (Logic, error) {
	if !json.Valid(text) { // a decoder stops after the first value
		return nil, errors.New("it is not JSON")
	}
	return rawjson.Decode[any](text)
}

// And returns a condition that is true if all parts are true.
func And(parts ...Logic) Logic {
	if len(parts) == 1 {
		return parts[0]
	}
	return map[string]any{"and": parts}
}

// Share returns a condition that is true for a percentage of the values of a variable. Each flag needs its own seed, or all
// flags would choose the same users.
func Share(seed, variable string, percent float64) (Logic, error) {
	if percent < 0 || percent > 100 {
		return nil, fmt.Errorf("a percentage is 0 to 100, not %v", percent)
	}
	if !isVariable(variable) {
		return nil, fmt.Errorf("%q is not an attribute such as user.key", variable)
	}
	by := map[string]any{"cat": []any{seed, read(variable)}}
	return map[string]any{"fractional": []any{by, []any{true, percent}, []any{false, 100 - percent}}}, nil
}

func read(variable string) Logic { return map[string]any{"var": variable} }

// isVariable reports whether a text names an attribute of a context: user.plan, account.address.city.
func isVariable(text string) bool {
	return regexp.MustCompile(`^[A-Za-z_][\w-]*(\.[\w-]+)+$`).MatchString(text)
}

// parseClause reads a variable, an operator and a value, or a variable that must be true.
func parseClause(clause string) (Logic, error) {
	if negated, is := strings.CutPrefix(clause, "not "); is {
		inner, err := parseClause(strings.TrimSpace(negated))
		return map[string]any{"!": []any{inner}}, err
	}
	if isVariable(clause) {
		return read(clause), nil
	}
	name := regexp.MustCompile(`^[\w.-]+`).FindString(clause)
	rest := strings.TrimSpace(clause[len(name):])
	for _, operator := range operators() {
		value, is := cutOperator(rest, operator.typed)
		if !is {
			continue
		}
		if !isVariable(name) {
			return nil, fmt.Errorf("%q is not an attribute such as user.plan", name)
		}
		if value == "" {
			return nil, fmt.Errorf("%q has no value after %s", clause, operator.typed)
		}
		return compare(read(name), operator.logic, value), nil
	}
	return nil, fmt.Errorf("%q is not %s", clause, help)
}

// cutOperator removes an operator from the front of a text. A space must follow an operator that is a word.
func cutOperator(text, operator string) (string, bool) {
	rest, is := strings.CutPrefix(text, operator)
	isWord := operator[0] >= 'a'
	if !is || isWord && rest != "" && rest[0] != ' ' {
		return "", false
	}
	return strings.TrimSpace(rest), true
}

func compare(variable Logic, operator, value string) Logic {
	switch operator {
	case "in":
		return map[string]any{"in": []any{variable, list(value)}}
	case "not in":
		return map[string]any{"!": []any{map[string]any{"in": []any{variable, list(value)}}}}
	case "contains":
		return map[string]any{"in": []any{literal(value), variable}}
	}
	return map[string]any{operator: []any{variable, literal(value)}}
}

// list reads values between commas, or a JSON array.
func list(text string) []any {
	if decoded, err := Decode([]byte(text)); err == nil {
		if values, is := decoded.([]any); is {
			return values
		}
	}
	values := []any{}
	for _, each := range split(text, ",") {
		values = append(values, literal(strings.TrimSpace(each)))
	}
	return values
}

// literal reads a value: JSON, a text in single quotes, or else the text itself.
func literal(text string) any {
	if value, err := Decode([]byte(text)); err == nil {
		return value
	}
	if len(text) > 1 && text[0] == '\'' && text[len(text)-1] == '\'' {
		return text[1 : len(text)-1]
	}
	return text
}

// split splits a text at a separator that is not between quotes.
func split(text, separator string) (parts []string) {
	quote, begin := byte(0), 0
	for i := 0; i < len(text); i++ {
		switch {
		case quote != 0:
			if text[i] == quote {
				quote = 0
			}
		case text[i] == '"' || text[i] == '\'':
			quote = text[i]
		case strings.HasPrefix(text[i:], separator):
			parts = append(parts, text[begin:i])
			begin = i + len(separator)
			i = begin - 1
		}
	}
	return append(parts, text[begin:])
}
