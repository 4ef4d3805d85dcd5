package configs

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Limits of a pattern in a schema. Patterns are matched in linear time; these
// keep the line short.
const (
	MaxPattern      = 1000 // bytes
	maxInstructions = 5000
)

// What patterns cost, for each of their instructions.
const (
	priceOfInstruction = 2 * time.Microsecond  // to compile
	priceOfStep        = 10 * time.Nanosecond  // to match a byte
	priceOfMatch       = 500 * time.Nanosecond // to match anything at all
)

// meteredPattern is a pattern that pays for what it looks at.
type meteredPattern struct {
	*regexp.Regexp
	perByte time.Duration
	budget  *budget
}

// MatchString matches unless the budget is used up; then nothing matters any more.
func (p meteredPattern) MatchString(text string) bool {
	p.budget.spend(priceOfMatch + time.Duration(len(text))*p.perByte)
	return !p.budget.spent() && p.Regexp.MatchString(text)
}

// pattern compiles a regular expression of a schema.
func (b *budget) pattern(text string) (jsonschema.Regexp, error) {
	if len(text) > MaxPattern {
		return nil, fmt.Errorf("it has %d bytes; at most %d are allowed", len(text), MaxPattern)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	size := instructions(parsed)
	if size > maxInstructions {
		return nil, fmt.Errorf("its repetitions come to more than %d steps", maxInstructions)
	}
	if b.spend(time.Duration(size) * priceOfInstruction); b.spent() {
		return nil, errors.New("there are too many others")
	}
	compiled, err := regexp.Compile(text)
	return meteredPattern{Regexp: compiled, perByte: time.Duration(1+size) * priceOfStep, budget: b}, err
}

// instructions is about how large a pattern becomes when repetitions are
// written out.
func instructions(parsed *syntax.Regexp) int {
	total := 1 + len(parsed.Rune)
	for _, part := range parsed.Sub {
		total += instructions(part)
	}
	if parsed.Op == syntax.OpRepeat {
		total *= max(parsed.Min, parsed.Max, 1)
	}
	return min(total, math.MaxInt32)
}
