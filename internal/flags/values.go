package flags

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/signalbox/signalbox/client/flageval"
)

// sameJSON compares values as JSON does: 1 is 1.0, and the order of members
// does not count.
func sameJSON(a, b json.RawMessage) bool {
	return bytes.Equal(a, b) || bytes.Equal(canonical(a), canonical(b))
}

// canonical gives equal values one text. Absent and null are the same.
func canonical(text json.RawMessage) []byte {
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

// fits tells whether a value is of a type. A NUMERIC value must be a number
// that every reader can hold.
func fits(value json.RawMessage, of flageval.Type) bool {
	if len(value) == 0 {
		return false
	}
	switch of {
	case flageval.Boolean:
		return string(value) == "true" || string(value) == "false"
	case flageval.String:
		return value[0] == '"'
	case flageval.Numeric:
		_, err := strconv.ParseFloat(string(value), 64)
		return err == nil && value[0] != '"'
	case flageval.JSON:
		return true
	}
	return false
}

// noun is what values of a type are called.
func noun(of flageval.Type) string {
	switch of {
	case flageval.Boolean:
		return "true or false"
	case flageval.String:
		return "a string"
	case flageval.Numeric:
		return "a number"
	case flageval.JSON:
	}
	return "JSON"
}

// booleanChoices are the two values that every BOOLEAN flag has.
func booleanChoices() []Choice {
	return []Choice{{Name: "True", Value: json.RawMessage("true")}, {Name: "False", Value: json.RawMessage("false")}}
}
