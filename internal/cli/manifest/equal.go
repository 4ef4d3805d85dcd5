package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/internal/rawjson"
)

// decode reads JSON and keeps the spelling of numbers. An absent member is nil.
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

// same reports whether two definitions are the same. An absent member equals null.
func same(kind string, a, b attributes) bool {
	for _, name := range definition(kind) {
		if !rawjson.Same(a[name], b[name]) {
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

// differences returns the differences between two values. It looks into objects and into lists of the same length.
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
