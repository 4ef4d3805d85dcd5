package rawjson

import (
	"bytes"
	"encoding/json"
)

// Same compares values as JSON does: 1 is 1.0, and the order of members does
// not count. Numbers are compared exactly, however large they are. Absent and
// null are the same.
func Same(a, b json.RawMessage) bool {
	return bytes.Equal(a, b) || bytes.Equal(Canonical(a), Canonical(b))
}

// Canonical gives equal values one text.
func Canonical(text json.RawMessage) []byte {
	if text == nil {
		return []byte("null")
	}
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

// plainNumbers gives equal numbers one spelling.
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
