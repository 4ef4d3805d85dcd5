package condition

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// reader reads a condition from left to right. It refuses everything that the grammar does not have: a text that is read as
// another condition than the typed one would serve a flag to the wrong people.
type reader struct{ rest string }

// skip removes the first characters and the spaces after them.
func (r *reader) skip(length int) { r.rest = strings.TrimLeftFunc(r.rest[length:], unicode.IsSpace) }

// takeWord removes a word, if the rest begins with it.
func (r *reader) takeWord(word string) bool {
	after, is := strings.CutPrefix(r.rest, word)
	if !is || after != "" && strings.IndexFunc(after, unicode.IsSpace) != 0 {
		return false
	}
	r.skip(len(word))
	return true
}

// clause reads a variable, an operator and a value, or a variable that must be true.
func (r *reader) clause() (Logic, error) {
	begin := r.rest
	if r.takeWord("not") {
		inner, err := r.clause()
		return map[string]any{"!": []any{inner}}, err
	}
	name := regexp.MustCompile(`^[\w.-]+`).FindString(r.rest)
	r.skip(len(name))
	operator, err := r.operator()
	switch {
	case err != nil:
		return nil, err
	case operator == "" && isVariable(name) && (r.rest == "" || isJoin(firstWord(r.rest))):
		return read(name), nil
	case operator == "":
		return nil, fmt.Errorf("%q is not %s", begin, help)
	case !isVariable(name):
		return nil, fmt.Errorf("%q is not an attribute such as user.plan", name)
	case r.rest == "" || firstWord(r.rest) == "and":
		return nil, fmt.Errorf("%q has no value after %s", strings.TrimSpace(strings.TrimSuffix(begin, r.rest)), operator)
	}
	return r.compare(read(name), operator)
}

// operator reads an operator; "" if there is none.
func (r *reader) operator() (string, error) {
	for _, words := range []string{"not in", "in", "contains", "starts with", "ends with"} {
		if r.takeWord(words) {
			return words, nil
		}
	}
	symbols := regexp.MustCompile(`^[=!<>~]+`).FindString(r.rest)
	switch symbols {
	case "", "==", "!=", ">=", "<=", ">", "<", "=":
		r.skip(len(symbols))
		return symbols, nil
	}
	return "", fmt.Errorf("there is no operator %s; use ==, !=, <, <=, >, >=, in, not in, contains, starts with or ends with", symbols)
}

// compare reads the value after an operator, and returns the comparison.
func (r *reader) compare(variable Logic, operator string) (Logic, error) {
	if operator == "in" || operator == "not in" {
		values, err := r.list()
		in := map[string]any{"in": []any{variable, values}}
		if operator == "in" {
			return in, err
		}
		return map[string]any{"!": []any{in}}, err
	}
	value, err := r.value()
	switch operator {
	case "contains":
		return map[string]any{"in": []any{value, variable}}, err
	case "starts with", "ends with":
		operator = strings.ReplaceAll(operator, " ", "_")
	case "=":
		operator = "=="
	}
	return map[string]any{operator: []any{variable, value}}, err
}

// list reads values between commas, or a JSON array.
func (r *reader) list() ([]any, error) {
	if strings.HasPrefix(r.rest, "[") {
		return r.array()
	}
	values := []any{}
	for {
		if r.rest == "" || r.rest[0] == ',' {
			return nil, errors.New("a value is missing beside a comma; write '' for an empty text")
		}
		value, err := r.value()
		if err != nil {
			return nil, err
		}
		values = append(values, value)
		if !strings.HasPrefix(r.rest, ",") {
			return values, nil
		}
		r.skip(1)
	}
}

// array reads a JSON array of single values.
func (r *reader) array() ([]any, error) {
	decoded, err := r.json()
	values, is := decoded.([]any)
	if err != nil || !is {
		return nil, fmt.Errorf("%q is not a JSON array; a list is written without brackets, such as user.plan in pro,team", r.rest)
	}
	for _, value := range values {
		switch value.(type) {
		case []any, map[string]any:
			return nil, errors.New("a list has numbers, true, false and texts, and no other lists")
		}
	}
	return values, nil
}

// value reads a text in quotes, or a number, true, false, null or text without. A quote only has a meaning at the beginning, so
// that an apostrophe does not hide the conditions after it.
func (r *reader) value() (any, error) {
	switch {
	case strings.HasPrefix(r.rest, `"`):
		begin := r.rest
		value, err := r.json()
		if err != nil {
			return nil, fmt.Errorf("%s is not a text in quotes; in single quotes, every character stands for itself", begin)
		}
		return value, nil
	case strings.HasPrefix(r.rest, "'"):
		end := strings.IndexByte(r.rest[1:], '\'')
		if end < 0 {
			return nil, fmt.Errorf("%s has no closing quote", r.rest)
		}
		text := r.rest[1 : end+1]
		r.skip(end + 2)
		return text, nil
	}
	text := regexp.MustCompile(`^[\p{L}\p{M}\p{N}_.@:/+-]+`).FindString(r.rest)
	if after := r.rest[len(text):]; text == "" || after != "" && after[0] != ',' && strings.IndexFunc(after, unicode.IsSpace) != 0 {
		return nil, unexpected(r.rest)
	}
	r.skip(len(text))
	if value, err := Decode([]byte(text)); err == nil {
		return value, nil
	}
	return text, nil
}

// json reads a JSON value at the beginning of the rest.
func (r *reader) json() (any, error) {
	decoder := json.NewDecoder(strings.NewReader(r.rest))
	var text json.RawMessage
	if err := decoder.Decode(&text); err != nil {
		return nil, err
	}
	r.skip(int(decoder.InputOffset()))
	return Decode(text)
}

// unexpected returns an error about the rest of a condition, which says what to write instead.
func unexpected(rest string) error {
	switch word := firstWord(rest); {
	case strings.HasPrefix(rest, "||") || strings.EqualFold(word, "or"):
		return errors.New(`a condition has no "or": add a second rule, or write JSON Logic such as {"or": [{"var": "user.beta"}, …]}`)
	case strings.HasPrefix(rest, "&&") || strings.EqualFold(word, "and"):
		return fmt.Errorf(`join conditions with "and", not with %q`, word)
	case strings.HasPrefix(rest, ","):
		return errors.New("several values need the operator in, such as user.plan in pro,team")
	case strings.ContainsAny(rest[:1], "[("):
		return fmt.Errorf("%q is not a value; a list is written without brackets, such as user.plan in pro,team", rest)
	}
	return fmt.Errorf(`cannot read %q: a text needs quotes, such as 'Ada Lovelace', unless it only has letters, digits and _.@:/+-;`+
		` a list has commas between its values, and "and" joins conditions`, rest)
}

// isJoin reports whether a word joins conditions, here or in another language.
func isJoin(word string) bool {
	return strings.EqualFold(word, "and") || strings.EqualFold(word, "or") || word == "&&" || word == "||"
}

func firstWord(text string) string {
	if words := strings.Fields(text); len(words) > 0 {
		return words[0]
	}
	return ""
}
