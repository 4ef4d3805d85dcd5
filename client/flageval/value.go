package flageval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/signalbox/signalbox/client/jsonlogic"
)

// served is a value, decoded when the flag is compiled.
type served struct {
	typ     Type
	raw     json.RawMessage
	boolean bool
	text    string
	number  float64
}

var errNoValue = errors.New("a value is required")

// Fits reports whether a flag of a type can serve a value: it is valid JSON of the type, not nested deeper than
// jsonlogic.MaxDataDepth, and a number is in the range of a float64.
func Fits(typ Type, value json.RawMessage) bool {
	_, err := newServed(typ, value)
	return err == nil
}

// newServed decodes a value and checks that it has the flag's type.
func newServed(typ Type, raw json.RawMessage) (*served, error) {
	if len(raw) == 0 {
		return nil, errNoValue
	}
	v, err := jsonlogic.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("the value is not JSON: %w", err)
	}
	s := &served{typ: typ, raw: bytes.Clone(raw)}
	ok := true
	switch typ {
	case Boolean:
		s.boolean, ok = v.Truthy(), v.Kind() == jsonlogic.KindBool
	case String:
		s.text, ok = v.Text()
	case Numeric:
		s.number, ok = v.Float()
		ok = ok && !math.IsInf(s.number, 0)
	case JSON:
	default:
		return nil, fmt.Errorf("unknown flag type %q", typ)
	}
	if !ok {
		return nil, fmt.Errorf("the value does not fit a %s flag", typ)
	}
	return s, nil
}

// isNull reports whether a value is absent or null.
func isNull(raw json.RawMessage) bool {
	text := bytes.TrimSpace(raw)
	return len(text) == 0 || string(text) == "null"
}
