package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// decode reads JSON with its numbers as they are spelled. A member that is absent is nil.
func decode(text json.RawMessage) any {
	if len(text) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

// equal reports whether two values are the same, however they are spelled.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, is := b.(map[string]any)
		return is && maps.EqualFunc(a, b, equal)
	case []any:
		b, is := b.([]any)
		return is && slices.EqualFunc(a, b, equal)
	case json.Number:
		b, is := b.(json.Number)
		return is && equalNumbers(a.String(), b.String())
	default:
		return a == b
	}
}

// equalNumbers compares short numbers by value, and long ones, which a float does not hold, by their text.
func equalNumbers(a, b string) bool {
	const exact = 15
	if a == b || len(a) > exact || len(b) > exact {
		return a == b
	}
	left, leftErr := strconv.ParseFloat(a, 64)
	right, rightErr := strconv.ParseFloat(b, 64)
	return leftErr == nil && rightErr == nil && left == right
}

// same reports whether two definitions are the same. A member that is absent is null.
func same(kind string, a, b attributes) bool {
	for _, name := range definition(kind) {
		if !equal(decode(a[name]), decode(b[name])) {
			return false
		}
	}
	return true
}

// Difference is one value that a plan changes. Nil is none.
type Difference struct {
	Path          string
	Before, After any
}

// differences returns what differs between two values, as deep as objects and lists of the same length go.
func differences(path string, before, after any) (found []Difference) {
	if equal(before, after) {
		return nil
	}
	if left, is := before.(map[string]any); is {
		if right, is := after.(map[string]any); is {
			names := maps.Clone(left)
			maps.Copy(names, right)
			for _, name := range slices.Sorted(maps.Keys(names)) {
				found = append(found, differences(join(path, name), left[name], right[name])...)
			}
			return found
		}
	}
	if left, is := before.([]any); is {
		if right, is := after.([]any); is && len(left) == len(right) {
			for i := range left {
				found = append(found, differences(fmt.Sprintf("%s[%d]", path, i), left[i], right[i])...)
			}
			return found
		}
	}
	return []Difference{{path, before, after}}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
