// Package jsonpath fills templates with parts of JSON, in the form that kubectl users know: {.id}, {[*].id},
// {.environments.production.rules[0].value}, {[?(@.enabled==true)].id} and {"\n"}. It has the parts of JSONPath that people
// type at a terminal, and no more.
package jsonpath

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// Template is text with expressions in it.
type Template struct{ parts []part }

// part is a text, or an expression.
type part struct {
	text  string
	steps []step // nil for a text
	shown string // the expression as it was written
}

// step selects parts of the values that the previous step selected.
type step struct {
	kind  stepKind
	name  string // of a member
	index int    // of an element; a negative one counts from the end
	where filter
}

type stepKind int

const (
	member stepKind = iota
	element
	every
	filtered
)

// filter compares a member of each element with a value; without an operator the member must exist.
type filter struct {
	steps    []step
	operator string
	value    any
}

// Execute writes the template with the parts of a decoded JSON value. Several values have a space between them. A path that
// selects nothing is an error, so that a misspelled path does not look like an empty result.
func (t *Template) Execute(w io.Writer, value any) error {
	for _, part := range t.parts {
		text := part.text
		if part.steps != nil {
			found, missing := selected([]any{value}, part.steps)
			if len(found) == 0 && missing != nil {
				return fmt.Errorf("%s: %w", part.shown, missing)
			}
			texts := make([]string, len(found))
			for i, each := range found {
				texts[i] = textOf(each)
			}
			text = strings.Join(texts, " ")
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

// selected returns the values that the steps select, and the first error of a step that found nothing.
func selected(values []any, steps []step) (found []any, missing error) {
	for _, each := range steps {
		found = nil
		for _, value := range values {
			next, err := each.apply(value)
			if err != nil && missing == nil {
				missing = err
			}
			found = append(found, next...)
		}
		values = found
	}
	return values, missing
}

// apply returns the parts of a value that the step selects.
func (s step) apply(value any) ([]any, error) {
	switch s.kind {
	case member:
		return s.member(value)
	case element:
		list, is := value.([]any)
		index := s.index
		if index < 0 {
			index += len(list)
		}
		if !is || index < 0 || index >= len(list) {
			return nil, fmt.Errorf("there is no element %d", s.index)
		}
		return list[index : index+1], nil
	}
	all, err := elements(value)
	if s.kind == every || err != nil {
		return all, err
	}
	return slices.DeleteFunc(slices.Clone(all), func(each any) bool { return !s.where.matches(each) }), nil
}

func (s step) member(value any) ([]any, error) {
	if _, is := value.([]any); is {
		return nil, fmt.Errorf("this is a list: write [*].%s for each, or [0].%s for the first", s.name, s.name)
	}
	members, is := value.(map[string]any)
	if !is {
		return nil, fmt.Errorf("there is no member %q in %s", s.name, textOf(value))
	}
	if found, exists := members[s.name]; exists {
		return []any{found}, nil
	}
	return nil, fmt.Errorf("there is no member %q.%s", s.name, naming.DidYouMean(s.name, slices.Sorted(maps.Keys(members))))
}

// elements returns the elements of a list, or the members of an object in the order of their names.
func elements(value any) ([]any, error) {
	switch in := value.(type) {
	case []any:
		return in, nil
	case map[string]any:
		var all []any
		for _, name := range slices.Sorted(maps.Keys(in)) {
			all = append(all, in[name])
		}
		return all, nil
	}
	return nil, fmt.Errorf("%s has no elements", textOf(value))
}

func (f filter) matches(value any) bool {
	found, _ := selected([]any{value}, f.steps)
	if len(found) == 0 {
		return f.operator == "!="
	}
	equal := textOf(found[0]) == textOf(f.value)
	switch f.operator {
	case "==":
		return equal
	case "!=":
		return !equal
	}
	return true
}

// textOf returns a text as it is and everything else as JSON.
func textOf(value any) string {
	if text, is := value.(string); is {
		return text
	}
	text, err := rawjson.Encode(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// Parse reads a template. A text without braces is one expression.
func Parse(text string) (*Template, error) {
	if !strings.ContainsRune(text, '{') {
		text = "{" + text + "}"
	}
	t := &Template{}
	for rest := text; rest != ""; {
		before, after, found := strings.Cut(rest, "{")
		if before != "" {
			t.parts = append(t.parts, part{text: before})
		}
		if !found {
			break
		}
		expression, rest2, closed := cutBrace(after)
		if !closed {
			return nil, errors.New("a { has no }")
		}
		parsed, err := parseExpression(expression)
		if err != nil {
			return nil, fmt.Errorf("{%s}: %w", expression, err)
		}
		t.parts = append(t.parts, parsed)
		rest = rest2
	}
	return t, nil
}

// cutBrace splits text at the } that ends an expression. A } between quotes does not end it.
func cutBrace(text string) (before, after string, found bool) {
	quote := byte(0)
	for i := range len(text) {
		switch each := text[i]; {
		case quote != 0:
			if each == quote {
				quote = 0
			}
		case each == '"' || each == '\'':
			quote = each
		case each == '}':
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

// parseExpression reads a quoted text or a path.
func parseExpression(text string) (part, error) {
	if strings.HasPrefix(text, `"`) {
		literal, err := strconv.Unquote(text)
		return part{text: literal}, err
	}
	steps, rest, err := parseSteps(strings.TrimPrefix(text, "$"))
	if err == nil && rest != "" {
		err = fmt.Errorf("%q is not a path such as .id, [0] or [*]", rest)
	}
	return part{steps: steps, shown: text}, err
}

// parseSteps reads steps, and returns the text after the last one.
func parseSteps(text string) (steps []step, rest string, err error) {
	steps = []step{}
	for text != "" && text != "." {
		var next step
		switch text[0] {
		case '[':
			next, text, err = parseBracket(text)
		case '.':
			next, text, err = parseMember(text[1:])
		default:
			return steps, text, nil
		}
		if err != nil {
			return nil, "", err
		}
		if next.kind >= 0 {
			steps = append(steps, next)
		}
	}
	return steps, "", nil
}

// parseMember reads the name of a member, or * for all of them.
func parseMember(text string) (step, string, error) {
	end := strings.IndexAny(text, ".[ =!<>)")
	if end < 0 {
		end = len(text)
	}
	name, rest := text[:end], text[end:]
	switch {
	case name == "*":
		return step{kind: every}, rest, nil
	case name == "" && strings.HasPrefix(rest, "["): // .[0]
		return step{kind: -1}, rest, nil
	case name == "":
		return step{}, "", errors.New("a name is missing after a dot")
	}
	return step{name: name}, rest, nil
}

// parseBracket reads [0], [*], ['a name'] or [?(@.a=="b")].
func parseBracket(text string) (step, string, error) {
	end := closing(text)
	if end < 0 {
		return step{}, "", errors.New("a [ has no ]")
	}
	inside, rest := strings.TrimSpace(text[1:end]), text[end+1:]
	if inside == "*" {
		return step{kind: every}, rest, nil
	}
	if index, err := strconv.Atoi(inside); err == nil {
		return step{kind: element, index: index}, rest, nil
	}
	if len(inside) > 1 && (inside[0] == '\'' || inside[0] == '"') && inside[len(inside)-1] == inside[0] {
		return step{name: inside[1 : len(inside)-1]}, rest, nil
	}
	if strings.HasPrefix(inside, "?(@") && strings.HasSuffix(inside, ")") {
		where, err := parseFilter(strings.TrimSuffix(strings.TrimPrefix(inside, "?(@"), ")"))
		return step{kind: filtered, where: where}, rest, err
	}
	return step{}, "", fmt.Errorf("[%s] is not [0], [*], ['name'] or [?(@.name==\"value\")]", inside)
}

// closing returns the index of the ] that matches the [ at the start of text, or -1. Brackets between quotes do not count.
func closing(text string) int {
	quote, depth := byte(0), 0
	for i := range len(text) {
		switch each := text[i]; {
		case quote != 0:
			if each == quote {
				quote = 0
			}
		case each == '"' || each == '\'':
			quote = each
		case each == '[':
			depth++
		case each == ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func parseFilter(text string) (filter, error) {
	steps, rest, err := parseSteps(text)
	if err != nil {
		return filter{}, err
	}
	where := filter{steps: steps}
	rest = strings.TrimSpace(rest)
	if rest == "" {
		return where, nil
	}
	for _, operator := range []string{"==", "!="} {
		if after, is := strings.CutPrefix(rest, operator); is {
			where.operator, where.value = operator, literal(strings.TrimSpace(after))
			return where, nil
		}
	}
	return where, fmt.Errorf("%q is not == or != and a value", rest)
}

// literal reads a value: JSON, a text in single quotes, or the text itself.
func literal(text string) any {
	if len(text) > 1 && text[0] == '\'' && text[len(text)-1] == '\'' {
		return text[1 : len(text)-1]
	}
	value, err := rawjson.Decode[any]([]byte(text))
	if err != nil || !json.Valid([]byte(text)) { // a decoder stops after the first value
		return text
	}
	return value
}
