package configs

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// pattern is a regular expression of a schema. Matching takes time in proportion to instructions times text length.
type pattern struct {
	*regexp.Regexp
	instructions int
}

// patterns are the patterns of one schema.
type patterns map[string]pattern

// compile compiles a pattern, unless all patterns of the schema together would be too large.
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
	program, _ := syntax.Compile(parsed.Simplify()) // a parsed pattern always compiles
	total := len(program.Inst)
	for _, other := range p {
		total += other.instructions
	}
	if total > maxInstructions {
		return nil, fmt.Errorf("the patterns of the schema have %d instructions in total, with repetitions expanded; at most %d are allowed", total, maxInstructions)
	}
	p[text] = pattern{Regexp: regexp.MustCompile(text), instructions: len(program.Inst)}
	return p[text], nil
}
