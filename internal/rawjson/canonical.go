package rawjson

import (
	"bytes"
	"encoding/json"
)

// Same reports whether two values are equal in JSON: 1 is 1.0, and the order of
// members does not count. Numbers are compared exactly, however large they are.
// Absent and null are the same.
func Same(a, b json.RawMessage) bool {
	return bytes.Equal(a, b) || bytes.Equal(Canonical(a), Canonical(b))
}

// Canonical returns the same text for all equal values.
func Canonical(text json.RawMessage) []byte {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	_ = decoder.Decode(&value)                    // the text is valid; an empty text is null
	plain, _ := json.Marshal(plainNumbers(value)) // a decoded value always encodes
	return plain
}

// plainNumbers spells equal numbers alike.
func plainNumbers(value any) any {
	switch value := value.(type) {
	case json.Number:
		return plainNumber(value.String())
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
