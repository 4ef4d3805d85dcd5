package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/internal/rawjson"
)

// decode reads JSON and keeps the spelling of numbers. An absent member is nil.
func decode(text json.RawMessage) any {
	value, _ := rawjson.Decode[any](text)
	return value
}

// same reports whether two definitions are the same. An absent member equals null.
func same(kind string, a, b attributes) bool {
	for _, name := range definition(kind) {
		if !rawjson.Same(a[name], b[name]) {
			return false
		}
	}
	return true
}

// Difference is one value that a plan changes; nil means that there is no value.
type Difference struct {
	Path          string
	Before, After any
}

// differences compares two values, with everything inside them, and returns the parts that differ.
func differences(path string, before, after any) (found []Difference) {
	if rawjson.Same(raw(before), raw(after)) {
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
		if right, is := after.([]any); is {
			return listDifferences(path, left, right)
		}
	}
	return []Difference{{path, before, after}}
}

// listDifferences compares lists of the same length item by item. Otherwise it
// leaves out the items that both lists begin with or end with, and returns all others.
func listDifferences(path string, left, right []any) (found []Difference) {
	item := func(i int) string { return fmt.Sprintf("%s[%d]", path, i) }
	if len(left) == len(right) {
		for i := range left {
			found = append(found, differences(item(i), left[i], right[i])...)
		}
		return found
	}
	isSame := func(i, j int) bool { return rawjson.Same(raw(left[i]), raw(right[j])) }
	start, end, shorter := 0, 0, min(len(left), len(right))
	for start < shorter && isSame(start, start) {
		start++
	}
	for end < shorter-start && isSame(len(left)-1-end, len(right)-1-end) {
		end++
	}
	for i := start; i < len(left)-end; i++ {
		found = append(found, Difference{item(i), left[i], nil})
	}
	for i := start; i < len(right)-end; i++ {
		found = append(found, Difference{item(i), nil, right[i]})
	}
	return found
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
