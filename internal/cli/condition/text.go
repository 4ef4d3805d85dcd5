package condition

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/rawjson"
)

// Text returns JSON Logic as Parse reads it, as far as that can express it, and else in a similar form. It is for people.
func Text(logic Logic) string {
	operator, arguments := node(logic)
	switch {
	case operator == "":
		return literalText(logic)
	case operator == "var":
		return variableText(arguments)
	case operator == "!" && len(arguments) == 1:
		return "not " + grouped(arguments[0])
	case operator == "fractional":
		return shareText(arguments)
	case operator == "in" && len(arguments) == 2:
		return inText(arguments[0], arguments[1])
	case len(arguments) > 1 && slices.Contains(infix(), operator):
		texts := make([]string, len(arguments))
		for i, each := range arguments {
			texts[i] = grouped(each)
		}
		return strings.Join(texts, " "+strings.ReplaceAll(operator, "_", " ")+" ")
	}
	return call(operator, arguments)
}

// infix returns the operators that are written between their arguments.
func infix() []string {
	return []string{"==", "===", "!=", "!==", "<", "<=", ">", ">=", "and", "or", "+", "-", "*", "/", "%", "starts_with", "ends_with"}
}

// node returns the operator and arguments of a node; a literal has none.
func node(logic Logic) (string, []any) {
	members, is := logic.(map[string]any)
	if !is || len(members) != 1 {
		return "", nil
	}
	for operator, arguments := range members {
		if list, is := arguments.([]any); is {
			return operator, list
		}
		return operator, []any{arguments}
	}
	return "", nil
}

// grouped returns the text of an argument, in parentheses when it joins others.
func grouped(logic Logic) string {
	if operator, arguments := node(logic); (operator == "and" || operator == "or") && len(arguments) > 1 {
		return "(" + Text(logic) + ")"
	}
	return Text(logic)
}

func variableText(arguments []any) string {
	if len(arguments) == 0 {
		return "the context"
	}
	switch name, is := arguments[0].(string); {
	case is && name == "": // what a loop is at
		return "it"
	case is && len(arguments) == 1:
		return name
	}
	return call("var", arguments)
}

// Variables returns the names of the attributes that a condition reads.
func Variables(logic Logic) (names []string) {
	operator, arguments := node(logic)
	if name, is := first(arguments).(string); operator == "var" && is && isVariable(name) {
		return []string{name}
	}
	if list, is := logic.([]any); is {
		arguments = list
	}
	for _, each := range arguments {
		names = append(names, Variables(each)...)
	}
	return names
}

func first(values []any) any {
	if len(values) == 0 {
		return nil
	}
	return values[0]
}

// inText returns "user.plan in a, b", or "user.name contains x" for a text in a variable.
func inText(member, of Logic) string {
	if operator, _ := node(of); operator == "var" {
		return grouped(of) + " contains " + grouped(member)
	}
	values, is := of.([]any)
	if !is {
		return grouped(member) + " in " + grouped(of)
	}
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = Text(value)
	}
	return grouped(member) + " in " + strings.Join(texts, ", ")
}

// shareText returns "25 % by user.key" for a share of true and false, and a call for other splits.
func shareText(arguments []any) string {
	percent, by, is := readShare(arguments)
	if !is {
		return call("fractional", arguments)
	}
	text := fmt.Sprintf("%v %%", percent)
	if by == nil {
		return text
	}
	if operator, parts := node(by); operator == "cat" && len(parts) == 2 {
		by = parts[1] // the seed says nothing to people
	}
	return text + " by " + Text(by)
}

// readShare returns the percentage of true in a split into true and false, and what it is by.
func readShare(arguments []any) (percent float64, by Logic, is bool) {
	if len(arguments) == 3 {
		by, arguments = arguments[0], arguments[1:]
	}
	if len(arguments) != 2 {
		return 0, nil, false
	}
	yes, isYes := bucket(arguments[0], true)
	no, isNo := bucket(arguments[1], false)
	if !isYes || !isNo || yes+no <= 0 {
		return 0, nil, false
	}
	return 100 * yes / (yes + no), by, true
}

// bucket returns the weight of a bucket with an outcome.
func bucket(of any, outcome bool) (float64, bool) {
	parts, is := of.([]any)
	if !is || len(parts) != 2 || parts[0] != outcome {
		return 0, false
	}
	switch weight := parts[1].(type) {
	case float64:
		return weight, true
	case json.Number:
		number, err := weight.Float64()
		return number, err == nil
	}
	return 0, false
}

// SetPercent returns a condition with another percentage: that of its share, or of the one among the parts of its "and". It
// reports whether there was one.
func SetPercent(logic Logic, percent float64) (Logic, bool) {
	operator, arguments := node(logic)
	if operator == "fractional" {
		_, by, is := readShare(arguments)
		if !is {
			return logic, false
		}
		split := []any{[]any{true, percent}, []any{false, 100 - percent}}
		if by != nil {
			split = append([]any{by}, split...)
		}
		return map[string]any{"fractional": split}, true
	}
	if operator != "and" {
		return logic, false
	}
	parts, found := slices.Clone(arguments), false
	for i, part := range parts {
		if !found {
			parts[i], found = SetPercent(part, percent)
		}
	}
	return map[string]any{"and": parts}, found
}

func call(operator string, arguments []any) string {
	texts := make([]string, len(arguments))
	for i, each := range arguments {
		texts[i] = Text(each)
	}
	return operator + "(" + strings.Join(texts, ", ") + ")"
}

func literalText(value any) string {
	text, err := rawjson.Encode(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
