package flags

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/client/flageval"
)

// decimals maps the configured text of a number to the text that is sent, which has a
// fraction. Typed OpenFeature providers take 1 for an integer and 1.0 for a float, and
// return the caller's default if the type is wrong: if a flag can serve 0.5, its 1 must
// be sent as 1.0. Nil sends every number as configured.
type decimals map[string]json.RawMessage

// decimals returns nil if none of the flag's values has a fraction.
func (f Flag) decimals() decimals {
	if !f.isFractional() {
		return nil
	}
	texts := decimals{}
	for number := range f.served() {
		if text := withFraction(number); !bytes.Equal(text, number) {
			texts[string(number)] = text
		}
	}
	return texts
}

// of returns the text to send for a value.
func (d decimals) of(value json.RawMessage) json.RawMessage {
	if text, differs := d[string(value)]; differs {
		return text
	}
	return value
}

// isFractional reports whether a NUMERIC flag serves, or may serve, a number with a
// fraction. The number counts, not its spelling: 1.0 and 1e2 have no fraction.
func (f Flag) isFractional() bool {
	if f.Type != flageval.Numeric {
		return false
	}
	for value := range f.served() {
		if hasFraction(value) {
			return true
		}
	}
	return slices.ContainsFunc(f.Values, func(choice Choice) bool { return hasFraction(choice.Value) })
}

func hasFraction(number json.RawMessage) bool {
	value, err := strconv.ParseFloat(string(number), 64)
	return err == nil && value != math.Trunc(value)
}

// withFraction returns a JSON number with a decimal point: 1 becomes 1.0, and 1e2
// becomes 1.0e2.
func withFraction(number json.RawMessage) json.RawMessage {
	if bytes.ContainsRune(number, '.') {
		return number
	}
	whole := number
	if exponent := bytes.IndexAny(number, "eE"); exponent >= 0 {
		whole = number[:exponent]
	}
	return slices.Concat(whole, []byte(".0"), number[len(whole):])
}
