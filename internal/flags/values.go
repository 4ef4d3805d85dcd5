package flags

import (
	"encoding/json"
	"fmt"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/jsonlogic"
)

// noun returns the phrase for a value of a type in messages.
func noun(of flageval.Type) string {
	switch of {
	case flageval.Boolean:
		return "true or false"
	case flageval.String:
		return "a string"
	case flageval.Numeric:
		return "a number within the range of a double"
	case flageval.JSON:
	}
	return fmt.Sprintf("JSON of at most %d levels", jsonlogic.MaxDataDepth)
}

// booleanChoices returns the two values that every BOOLEAN flag has.
func booleanChoices() []Choice {
	return []Choice{{Name: "True", Value: json.RawMessage("true")}, {Name: "False", Value: json.RawMessage("false")}}
}
