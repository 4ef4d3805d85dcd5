package configs

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// typeOf is the type that a value has when nobody names one.
func typeOf(value json.RawMessage) Type {
	switch value[0] {
	case '"':
		return String
	case 't', 'f':
		return Boolean
	case '{', '[', 'n':
		return JSON
	}
	return Number
}

// fits tells whether a value is of a type. A number must be one that every
// reader can hold.
func (t Type) fits(value json.RawMessage) bool {
	if t == JSON {
		return true
	}
	if typeOf(value) != t {
		return false
	}
	if t != Number {
		return true
	}
	_, err := strconv.ParseFloat(string(value), 64)
	return err == nil
}

// noun is what values of a type are called.
func (t Type) noun() string {
	switch t {
	case String:
		return "a string"
	case Number:
		return "a number that fits 64 bits"
	case Boolean:
		return "true or false"
	case JSON:
	}
	return "JSON"
}

// nesting is how many levels of arrays and objects a value has.
func nesting(value json.RawMessage) int {
	deepest, depth, quoted := 0, 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// sameJSON compares values as JSON does: 1 is 1.0, and the order of members
// does not count.
func sameJSON(a, b json.RawMessage) bool {
	return bytes.Equal(a, b) || bytes.Equal(canonical(a), canonical(b))
}

// canonical gives equal values one text.
func canonical(text json.RawMessage) []byte {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return text
	}
	plain, err := json.Marshal(plainNumbers(value))
	if err != nil {
		return text
	}
	return plain
}

// plainNumbers turns numbers into float64; one that does not fit keeps its text.
func plainNumbers(value any) any {
	switch value := value.(type) {
	case json.Number:
		if number, err := strconv.ParseFloat(value.String(), 64); err == nil {
			return number
		}
	case []any:
		for i := range value {
			value[i] = plainNumbers(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = plainNumbers(value[name])
		}
	}
	return value
}
