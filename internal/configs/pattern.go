package configs

import (
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// pattern is a regular expression of a schema. It is matched in a time that
// grows with its instructions and the text, and with nothing else.
type pattern struct {
	*regexp.Regexp
	instructions int
}

// patterns are the patterns of one schema.
type patterns map[string]pattern

// compile compiles a pattern unless the schema's patterns become too large.
func (p patterns) compile(text string) (jsonschema.Regexp, error) {
	if known, compiled := p[text]; compiled {
		return known, nil
	}
	if len(text) > MaxPattern {
		return nil, fmt.Errorf("it has %d bytes; at most %d are allowed", len(text), MaxPattern)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	total := countInstructions(parsed)
	size := total
	for _, other := range p {
		total += other.instructions
	}
	if total > maxInstructions {
		return nil, fmt.Errorf("with the schema's other patterns it comes to more than %d instructions, repetitions written out; make them shorter", maxInstructions)
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	p[text] = pattern{Regexp: compiled, instructions: size}
	return p[text], nil
}

// countInstructions returns about how large a pattern becomes when its
// repetitions are written out.
func countInstructions(parsed *syntax.Regexp) int {
	total := 1 + len(parsed.Rune)
	for _, part := range parsed.Sub {
		total += countInstructions(part)
	}
	if parsed.Op == syntax.OpRepeat {
		total *= max(parsed.Min, parsed.Max, 1)
	}
	return min(total, math.MaxInt32)
}
