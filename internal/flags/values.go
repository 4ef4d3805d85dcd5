package flags

import (
	"encoding/json"
	"strconv"

	"github.com/signalbox/signalbox/client/flageval"
)

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
