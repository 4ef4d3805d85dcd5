package configs

import (
	"encoding/json"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxSteps bounds the work of checking one write, because the check holds the account's lock, and on SQLite the lock of
// all accounts. A step takes about a microsecond. Steps are estimated from the sizes of schemas and values before the
// check. So every machine refuses the same writes.
const maxSteps = 200_000

// The cost of other work in steps.
const (
	stepsPerNode   = 20 // to compile one JSON value of a schema
	lookupsPerStep = 10 // lookups of a key in one config of a chain
	bytesPerStep   = 32 // of JSON text to merge and decode

	bytesHashedPerStep = 4 << 10 // of a schema's text, to find it in the map
)

// work is the number of steps that a write may still take.
type work int

// spend subtracts steps and reports whether there were enough.
func (w *work) spend(steps int) bool {
	*w -= work(steps)
	return *w >= 0
}

func (w *work) spent() bool { return *w < 0 }

// weight is the cost of a schema per value to which it applies. A subschema applies to a value at most once per path
// that leads to it. So the weight times the number of values bounds the work.
type weight struct {
	parts        int // subschemas, counted through references; expensive ones count several times
	instructions int // of all patterns
	unique       int // subschemas with uniqueItems
	depth        int // nested subschemas
}

func (w weight) plus(other weight) weight {
	return weight{w.parts + other.parts, w.instructions + other.instructions, w.unique + other.unique, max(w.depth, other.depth)}
}

// or returns the maximum of two weights.
func (w weight) or(other weight) weight {
	return weight{max(w.parts, other.parts), max(w.instructions, other.instructions), max(w.unique, other.unique), max(w.depth, other.depth)}
}

// steps returns the cost of checking a value of size s.
func (w weight) steps(s size) int {
	const bytesPerPart, bytesPerInstruction = 256, 64
	return w.parts*(s.values+s.bytes/bytesPerPart) + w.instructions*(s.bytes/bytesPerInstruction+1) + w.unique*s.unique
}

// ownWeight returns the weight of a subschema without its subschemas.
func ownWeight(part *jsonschema.Schema) weight {
	const namesPerPart = 16
	own := weight{parts: 1}
	switch { // numbers are compared as exact fractions
	case part.MultipleOf != nil:
		own.parts += 5
	case part.Minimum != nil || part.Maximum != nil || part.ExclusiveMinimum != nil || part.ExclusiveMaximum != nil:
		own.parts += 2
	case part.Types != nil && slices.Contains(part.Types.ToStrings(), "integer"):
		own.parts++
	}
	if part.Const != nil {
		own.parts += constantWeight(*part.Const)
	}
	if part.Enum != nil {
		own.parts += constantWeight(part.Enum.Values)
	}
	names := len(part.Required)
	for _, required := range part.DependentRequired {
		names += 1 + len(required)
	}
	own.parts += names / namesPerPart
	if part.Pattern != nil {
		own = own.plus(patternWeight(part.Pattern))
	}
	for pattern := range part.PatternProperties {
		own = own.plus(patternWeight(pattern))
	}
	if part.UniqueItems {
		own.unique = 1
	}
	return own
}

func patternWeight(compiled jsonschema.Regexp) weight {
	known, _ := compiled.(pattern) // patterns.compile creates every pattern
	return weight{parts: 1, instructions: known.instructions}
}

// constantWeight returns the cost, in parts, of comparing a value with a constant.
func constantWeight(constant any) int {
	const valuesPerPart = 16
	inside := measure(constant)
	return inside.numbers + inside.values/valuesPerPart
}

// size describes a value for estimating the cost of a check.
type size struct {
	values  int // the value itself and all values inside it
	numbers int // the numbers among these values
	bytes   int // of strings and names
	unique  int // comparisons by uniqueItems, if it applied to all arrays
}

// measure returns the size of a decoded value.
func measure(value any) (s size) {
	add := func(inside any) {
		below := measure(inside)
		s = size{s.values + below.values, s.numbers + below.numbers, s.bytes + below.bytes, s.unique + below.unique}
	}
	switch value := value.(type) {
	case json.Number, float64:
		s.numbers++
	case string:
		s.bytes += len(value)
	case []any:
		for _, each := range value {
			add(each)
		}
		s.unique += s.values * comparisons(len(value))
	case map[string]any:
		for name, each := range value {
			s.bytes += len(name)
			add(each)
		}
	}
	s.values++
	return s
}

// comparisons returns how often uniqueItems reads each element: it compares 20 elements in pairs, and hashes more.
func comparisons(elements int) int {
	const few, hashed = 20, 2
	if elements > few {
		return hashed
	}
	return elements
}
