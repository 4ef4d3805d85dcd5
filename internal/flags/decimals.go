package flags

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/client/flageval"
)

// decimals has, by the texts of the numbers that a flag serves, the texts with a
// fraction in which they are sent. Typed OpenFeature providers take 1 for an integer
// and 1.0 for a float, and give their caller's default for the wrong one: if a flag
// can serve 0.5, its 1 must be sent as 1.0. Nil sends everything as it is configured.
type decimals map[string]json.RawMessage

// decimals returns nil for a flag without a fraction in any of its values.
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

// of returns the text in which a value is sent.
func (d decimals) of(value json.RawMessage) json.RawMessage {
	if text, differs := d[string(value)]; differs {
		return text
	}
	return value
}

// isFractional reports whether a NUMERIC flag serves, or may serve, a number with a
// fraction. The number counts, not its spelling: 1.0 and 1e2 have none.
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
