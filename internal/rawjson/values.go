package rawjson

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Encode returns a value as JSON without escapes for HTML: < stays <.
func Encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// Decode reads the first JSON value of a text. Numbers keep their spelling: they become a json.Number.
func Decode[T any](text []byte) (value T, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

// ReplaceNumbers replaces every number of a value that Decode returned.
func ReplaceNumbers(value any, with func(json.Number) any) any {
	switch value := value.(type) {
	case json.Number:
		return with(value)
	case []any:
		for i := range value {
			value[i] = ReplaceNumbers(value[i], with)
		}
	case map[string]any:
		for name := range value {
			value[name] = ReplaceNumbers(value[name], with)
		}
	}
	return value
}

// IsWord reports whether a text can only be a text: evaluators that convert values never find it equal to a number, a
// boolean or null. It errs on the side of false: Ireland begins as Infinity does.
func IsWord(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" || text == "true" || text == "false" || text == "null" {
		return false
	}
	return !strings.ContainsAny(text[:1], "+-.0123456789I")
}
