package condition

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/internal/rawjson"
)

// Text returns JSON Logic in the form that Parse reads, or in a similar form if Parse has none. It is for people.
func Text(logic Logic) string { return printer{infix: symbols(), literal: literalText}.text(logic) }

// Sentence returns JSON Logic in words: user.plan is pro and user.age is at least 18.
func Sentence(logic Logic) string {
	operators := symbols()
	maps.Copy(operators, map[string]string{"==": "is", "===": "is", "!=": "is not", "!==": "is not",
		">=": "is at least", "<=": "is at most", ">": "is more than", "<": "is less than", "in": "is one of", "sem_ver": "version"})
	return printer{infix: operators, literal: word}.text(logic)
}

// printer writes conditions for people.
type printer struct {
	infix   map[string]string // the text between the arguments of an operator
	literal func(value any) string
}

func (p printer) text(logic Logic) string {
	operator, arguments := node(logic)
	switch {
	case operator == "":
		return p.literal(logic)
	case operator == "var":
		return p.variable(arguments)
	case operator == "!" && len(arguments) == 1:
		return "not " + p.grouped(arguments[0])
	case operator == "fractional":
		return p.share(arguments)
	case operator == "in" && len(arguments) == 2:
		return p.in(arguments[0], arguments[1])
	case operator == "sem_ver" && len(arguments) == 3 && p.infix[operator] != "":
		return p.version(arguments)
	case len(arguments) > 1 && p.infix[operator] != "":
		texts := make([]string, len(arguments))
		for i, each := range arguments {
			texts[i] = p.grouped(each)
		}
		return strings.Join(texts, " "+p.infix[operator]+" ")
	}
	return p.call(operator, arguments)
}

// version returns "app.version is at least version 2.10.0" for a comparison of versions.
func (p printer) version(arguments []any) string {
	operator, is := arguments[1].(string)
	if !is || p.infix[operator] == "" {
		return p.call("sem_ver", arguments)
	}
	return p.grouped(arguments[0]) + " " + p.infix[operator] + " " + p.infix["sem_ver"] + " " + p.grouped(arguments[2])
}

// symbols returns the operators that are written between their arguments.
func symbols() map[string]string {
	texts := map[string]string{"starts_with": "starts with", "ends_with": "ends with"}
	for _, same := range []string{"==", "===", "!=", "!==", "<", "<=", ">", ">=", "and", "or", "+", "-", "*", "/", "%", "in"} {
		texts[same] = same
	}
	return texts
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

// grouped returns the text of an argument, in parentheses if it is an `and` or an `or`.
func (p printer) grouped(logic Logic) string {
	if operator, arguments := node(logic); (operator == "and" || operator == "or") && len(arguments) > 1 {
		return "(" + p.text(logic) + ")"
	}
	return p.text(logic)
}

func (p printer) variable(arguments []any) string {
	if len(arguments) == 0 {
		return "the context"
	}
	switch name, is := arguments[0].(string); {
	case is && name == "": // the current element of a loop
		return "it"
	case is && len(arguments) == 1:
		return name
	}
	return p.call("var", arguments)
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

// in returns "user.plan in a, b", or "user.name contains x" for a text in a variable.
func (p printer) in(member, of Logic) string {
	if operator, _ := node(of); operator == "var" {
		return p.grouped(of) + " contains " + p.grouped(member)
	}
	values, is := of.([]any)
	if !is {
		return p.grouped(member) + " " + p.infix["in"] + " " + p.grouped(of)
	}
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = p.text(value)
	}
	return p.grouped(member) + " " + p.infix["in"] + " " + strings.Join(texts, ", ")
}

// share returns "25 % by user.key" for a share of true and false, and a call for other splits.
func (p printer) share(arguments []any) string {
	percent, by, is := readShare(arguments)
	if !is {
		return p.call("fractional", arguments)
	}
	text := fmt.Sprintf("%v %%", percent)
	if by == nil {
		return text
	}
	if operator, parts := node(by); operator == "cat" && len(parts) == 2 {
		by = parts[1] // the seed says nothing to people
	}
	return text + " by " + p.text(by)
}

// readShare returns the percentage of true in a split into true and false, and the value that decides the split.
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

// SetPercent returns a condition whose share has another percentage, and reports whether there is a share: the condition
// itself, or a part of its "and".
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

func (p printer) call(operator string, arguments []any) string {
	texts := make([]string, len(arguments))
	for i, each := range arguments {
		texts[i] = p.text(each)
	}
	return operator + "(" + strings.Join(texts, ", ") + ")"
}

// Percent returns the percentage of the share in a condition, and reports whether there is
// a share: the condition itself, or a part of its "and".
func Percent(logic Logic) (float64, bool) {
	operator, arguments := node(logic)
	switch operator {
	case "fractional":
		percent, _, is := readShare(arguments)
		return percent, is
	case "and":
		for _, part := range arguments {
			if percent, is := Percent(part); is {
				return percent, true
			}
		}
	}
	return 0, false
}

// word is literalText without the quotes of a single word.
func word(value any) string {
	if text, is := value.(string); is {
		return Word(text)
	}
	return literalText(value)
}

// Word returns a text for a sentence: a single word as it is, everything else in quotes. A
// text that looks like another value, such as "true", keeps its quotes.
func Word(text string) string {
	breaks := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == ',' || r == '"' }
	if text == "" || strings.ContainsFunc(text, breaks) || json.Valid([]byte(text)) {
		return literalText(text)
	}
	return text
}

func literalText(value any) string {
	text, err := rawjson.Encode(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
