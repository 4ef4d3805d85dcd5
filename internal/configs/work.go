package configs

import (
	"encoding/json"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxSteps bounds the work of checking one write, because the account's lock, which on SQLite is everybody's, is held
// meanwhile. A step takes about a microsecond. Steps are counted from the sizes of schemas and values before the work
// is done, so a write is refused everywhere or nowhere.
const maxSteps = 200_000

// What other work comes to in steps.
const (
	stepsPerNode   = 20 // of compiling a JSON value of a schema
	lookupsPerStep = 10 // finding a key in one config of a chain, a few times
	bytesPerStep   = 32 // JSON text that is merged and decoded

	bytesHashedPerStep = 4 << 10 // text of a schema that is looked up
)

// work is how many steps a write may still take.
type work int

// spend takes steps off and reports whether there were enough left.
func (w *work) spend(steps int) bool {
	*w -= work(steps)
	return *w >= 0
}

func (w *work) spent() bool { return *w < 0 }

// weight is what a schema costs for every value that it is applied to. Every subschema is applied to a value at most
// once for each way that leads to it, so the weight times the number of values bounds the work.
type weight struct {
	parts        int // subschemas, references followed; some count for several
	instructions int // of their patterns
	unique       int // those with uniqueItems
	depth        int // subschemas inside of each other
}

func (w weight) plus(other weight) weight {
	return weight{w.parts + other.parts, w.instructions + other.instructions, w.unique + other.unique, max(w.depth, other.depth)}
}

// or returns a weight that neither of two schemas exceeds.
func (w weight) or(other weight) weight {
	return weight{max(w.parts, other.parts), max(w.instructions, other.instructions), max(w.unique, other.unique), max(w.depth, other.depth)}
}

// steps returns how much work it is to check a value of a size.
func (w weight) steps(s size) int {
	const bytesPerPart, bytesPerInstruction = 256, 64
	return w.parts*(s.values+s.bytes/bytesPerPart) + w.instructions*(s.bytes/bytesPerInstruction+1) + w.unique*s.unique
}

// ownWeight returns the weight of a subschema without those inside it.
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
	known, _ := compiled.(pattern) // as compilePattern makes all of them
	return weight{parts: 1, instructions: known.instructions}
}

// constantWeight returns what comparing a value with a constant counts for.
func constantWeight(constant any) int {
	const valuesPerPart = 16
	inside := measure(constant)
	return inside.numbers + inside.values/valuesPerPart
}

// size is how much of a value there is to check.
type size struct {
	values  int // of any kind, itself and inside
	numbers int // those of them that are numbers
	bytes   int // of strings and names
	unique  int // comparisons that uniqueItems makes, if all arrays have it
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

// comparisons returns how often uniqueItems looks at each element: a few are compared with each other, more are hashed.
func comparisons(elements int) int {
	const few, hashed = 20, 2
	if elements > few {
		return hashed
	}
	return elements
}
