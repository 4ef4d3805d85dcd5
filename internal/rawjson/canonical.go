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
	value, _ := Decode[any](text)                                // the text is valid; an empty text is null
	plain, _ := json.Marshal(ReplaceNumbers(value, plainNumber)) // a decoded value always encodes
	return plain
}
