package configs

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/signalbox/signalbox/internal/fault"
)

// maxWork bounds what checking schemas may cost one write, in steps of roughly
// a microsecond. A schema of a few lines can ask for more work than a machine
// can do, by referring to itself twice at every level, and the account's lock
// is held meanwhile.
const maxWork = 500_000

// compileCost is what compiling costs per value that a schema is made of.
const compileCost = 40

// Limits of a pattern in a schema. Patterns are matched in linear time; these
// keep the line short.
const (
	MaxPattern      = 1000 // bytes
	maxInstructions = 5000
)

// budget is the work that one write may still cause.
type budget struct{ left int }

func newBudget() *budget { return &budget{left: maxWork} }

func (b *budget) spend(work int) {
	if work > b.left {
		work = b.left + 1
	}
	b.left -= work
}

func (b *budget) spent() bool { return b.left < 0 }

// watch makes every part of a compiled schema pay before it looks at a value.
// The validator has no such thing, but it asks a part's format before it goes
// into the parts below, and formats are no assertions in this draft: their
// place is free. False when a part belongs to another document.
func (b *budget) watch(compiler *jsonschema.Compiler, compiled *jsonschema.Schema, document any) bool {
	seen := map[*jsonschema.Schema]bool{}
	collect(compiled, seen)
	// What a $dynamicRef leads to is decided while a value is looked at.
	for _, place := range dynamicAnchors(document, "") {
		if part, err := compiler.Compile(schemaURL + "#" + place); err == nil {
			collect(part, seen)
		}
	}
	remembers := false
	for part := range seen {
		remembers = remembers || part.UnevaluatedItems != nil || part.UnevaluatedProperties != nil
		if !strings.HasPrefix(part.Location, schemaURL) {
			return false
		}
	}
	for part := range seen {
		b.charge(part, remembers)
	}
	return true
}

// collect finds all parts of a schema.
func collect(part *jsonschema.Schema, seen map[*jsonschema.Schema]bool) {
	if seen[part] {
		return
	}
	seen[part] = true
	once, often := parts(part)
	for _, below := range append(once, often...) {
		collect(below, seen)
	}
}

// charge sets what a part costs. It pays for what the parts below do before
// they are asked themselves, which they are not when a value is of another
// type than theirs. A schema that remembers which values were looked at makes
// a list of them for every part.
func (b *budget) charge(part *jsonschema.Schema, remembers bool) {
	once, often := parts(part)
	fixed, perValue := 1+len(part.Required), 1+len(part.PatternProperties)
	for _, below := range once {
		fixed += own(below)
	}
	for _, below := range often {
		perValue += own(below)
	}
	if remembers {
		perValue += len(once)
	}
	part.Format = &jsonschema.Format{Name: "budget", Validate: func(value any) error {
		cost := fixed + perValue*size(value)
		if part.UniqueItems {
			cost += 3 * weight(value)
		}
		if b.spend(cost); b.spent() {
			return fmt.Errorf("it takes more than %d steps", maxWork)
		}
		return nil
	}}
}

// own is what a part costs before anything else is asked: comparing a value
// with constants.
func own(part *jsonschema.Schema) int {
	cost := 1
	if part.Const != nil {
		cost += 4 * weight(*part.Const) // numbers are compared as fractions
	}
	if part.Enum != nil {
		for _, value := range part.Enum.Values {
			cost += weight(value)
		}
	}
	return cost
}

// parts gives the parts of a schema that are asked at most once about a value,
// and those that are asked about every value inside of it.
func parts(s *jsonschema.Schema) (once, often []*jsonschema.Schema) {
	once = slices.Concat([]*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems,
		slices.Collect(maps.Values(s.DependentSchemas)), slices.Collect(maps.Values(s.Properties)))
	if s.DynamicRef != nil {
		once = append(once, s.DynamicRef.Ref)
	}
	often = append(slices.Collect(maps.Values(s.PatternProperties)),
		s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems)
	if part, is := s.AdditionalProperties.(*jsonschema.Schema); is {
		often = append(often, part)
	}
	missing := func(part *jsonschema.Schema) bool { return part == nil }
	return slices.DeleteFunc(once, missing), slices.DeleteFunc(often, missing)
}

// dynamicAnchors finds the places that a $dynamicRef may lead to.
func dynamicAnchors(document any, at string) (places []string) {
	switch document := document.(type) {
	case map[string]any:
		if _, anchored := document["$dynamicAnchor"].(string); anchored {
			places = append(places, at)
		}
		for name, value := range document {
			places = append(places, dynamicAnchors(value, at+"/"+fault.Escape(name))...)
		}
	case []any:
		for i, value := range document {
			places = append(places, dynamicAnchors(value, fmt.Sprint(at, "/", i))...)
		}
	}
	return places
}

// size is how many values are directly inside of one.
func size(value any) int {
	switch value := value.(type) {
	case map[string]any:
		return len(value)
	case []any:
		return len(value)
	}
	return 0
}

// weight is how many values one is made of.
func weight(value any) int {
	total := 1
	switch value := value.(type) {
	case map[string]any:
		for _, each := range value {
			total += weight(each)
		}
	case []any:
		for _, each := range value {
			total += weight(each)
		}
	}
	return total
}

// meteredPattern is a pattern that pays for what it looks at.
type meteredPattern struct {
	*regexp.Regexp
	cost   int
	budget *budget
}

// MatchString matches unless the budget is used up; then nothing matters any more.
func (p meteredPattern) MatchString(text string) bool {
	p.budget.spend(1 + len(text)*p.cost/100)
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
	cost := instructions(parsed)
	if cost > maxInstructions {
		return nil, fmt.Errorf("its repetitions come to more than %d steps", maxInstructions)
	}
	compiled, err := regexp.Compile(text)
	return meteredPattern{Regexp: compiled, cost: cost, budget: b}, err
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

// bounded is a number without the infinities.
func bounded(number float64) float64 {
	return max(-math.MaxFloat64, min(math.MaxFloat64, number))
}
