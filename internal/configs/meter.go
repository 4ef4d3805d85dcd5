package configs

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/signalbox/signalbox/internal/fault"
)

// What the parts of a schema cost when they look at a value.
const (
	priceOfPart     = 1500 * time.Nanosecond // with the error that it may give
	priceOfName     = 50 * time.Nanosecond   // of a member that is looked for
	priceOfMemory   = 250 * time.Nanosecond  // of remembering that a value was looked at
	priceOfNumber   = 2 * time.Microsecond   // numbers are compared as fractions
	priceOfMultiple = 8 * time.Microsecond
	priceOfCopy     = 2 * time.Nanosecond // of a byte: strings are copied whenever they are looked at
	priceOfLength   = 5 * time.Nanosecond // of a byte whose characters are counted
)

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
	spent := errors.New("the budget is spent") // whoever asked for the check tells it better
	for part := range seen {
		priced := priceOf(part, remembers)
		part.Format = &jsonschema.Format{Name: "budget", Validate: func(value any) error {
			if b.spend(priced.of(value)); b.spent() {
				return spent
			}
			return nil
		}}
	}
	return true
}

// collect finds all parts of a schema.
func collect(part *jsonschema.Schema, seen map[*jsonschema.Schema]bool) {
	if part == nil || seen[part] {
		return
	}
	seen[part] = true
	inside := slices.Concat(itself(part), ofElements(part), ofMembers(part), part.PrefixItems, slices.Collect(maps.Values(part.Properties)))
	for _, below := range inside {
		collect(below, seen)
	}
}

// itself gives the parts that look at the same value.
func itself(s *jsonschema.Schema) []*jsonschema.Schema {
	parts := slices.Concat([]*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf,
		slices.Collect(maps.Values(s.DependentSchemas)))
	if s.DynamicRef != nil {
		parts = append(parts, s.DynamicRef.Ref)
	}
	return parts
}

// ofElements gives the parts that look at every element of an array.
func ofElements(s *jsonschema.Schema) []*jsonschema.Schema {
	return []*jsonschema.Schema{s.Contains, s.Items2020, s.UnevaluatedItems}
}

// ofMembers gives the parts that look at every member of an object.
func ofMembers(s *jsonschema.Schema) []*jsonschema.Schema {
	parts := append(slices.Collect(maps.Values(s.PatternProperties)), s.PropertyNames, s.PropertyNames, s.UnevaluatedProperties)
	if part, is := s.AdditionalProperties.(*jsonschema.Schema); is {
		parts = append(parts, part)
	}
	return parts
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

// price is what a part of a schema costs when it looks at a value. It pays for
// what the parts below do before they are asked themselves, which they are not
// when a value is of another type than theirs.
type price struct {
	always, number, perByte time.Duration
	perElement, perMember   time.Duration
	object                  time.Duration
	properties              map[string]time.Duration
	prefix                  []time.Duration
	unique                  bool
}

// priceOf sets what a part costs. A schema that remembers which values were
// looked at makes a list of them for every part.
func priceOf(part *jsonschema.Schema, remembers bool) price {
	p := price{always: sum(itself(part)), perElement: priceOfName + sum(ofElements(part)), perMember: priceOfName + sum(ofMembers(part)),
		perByte: priceOfCopy, unique: part.UniqueItems, properties: map[string]time.Duration{}}
	if remembers {
		again := time.Duration(1+len(itself(part))) * priceOfMemory
		p.perElement, p.perMember = p.perElement+again, p.perMember+again
	}
	if part.MinLength != nil || part.MaxLength != nil {
		p.perByte += priceOfLength
	}
	if part.Minimum != nil || part.Maximum != nil || part.ExclusiveMinimum != nil || part.ExclusiveMaximum != nil {
		p.number += priceOfNumber
	}
	if part.MultipleOf != nil {
		p.number += priceOfMultiple
	}
	p.object = time.Duration(len(part.Required)+len(part.DependentSchemas)+len(part.DependentRequired)) * priceOfName
	for _, names := range part.DependentRequired {
		p.object += time.Duration(len(names)) * priceOfName
	}
	for name, below := range part.Properties {
		p.properties[name] = own(below)
	}
	for _, below := range part.PrefixItems {
		p.prefix = append(p.prefix, own(below))
	}
	return p
}

// of is what the part costs for one value.
func (p price) of(value any) time.Duration {
	total := p.always
	switch value := value.(type) {
	case string:
		total += time.Duration(len(value)) * p.perByte
	case json.Number, float64:
		total += p.number
	case []any:
		total += time.Duration(len(value)) * p.perElement
		for i := range min(len(value), len(p.prefix)) {
			total += p.prefix[i]
		}
		if p.unique {
			total += uniqueness(value)
		}
	case map[string]any:
		total += p.object + time.Duration(len(value))*p.perMember
		if len(p.properties) > 0 {
			for name := range value {
				total += p.properties[name]
			}
		}
	}
	return total
}

// uniqueness is what it costs to find equal elements. A few are compared each
// with each, more are hashed.
func uniqueness(elements []any) time.Duration {
	const few = 20
	once := comparing(elements)
	if len(elements) > few {
		return 2 * once
	}
	return time.Duration(len(elements)) * once
}

func sum(parts []*jsonschema.Schema) (total time.Duration) {
	for _, part := range parts {
		if part != nil {
			total += own(part)
		}
	}
	return total
}

// own is what a part costs before anything else is asked: its type, and
// comparing a value with constants.
func own(part *jsonschema.Schema) time.Duration {
	cost := priceOfPart
	if part.Types != nil && slices.Contains(part.Types.ToStrings(), "integer") {
		cost += priceOfNumber
	}
	if part.Const != nil {
		cost += comparing(*part.Const)
	}
	if part.Enum != nil {
		cost += comparing(part.Enum.Values)
	}
	return cost
}

// comparing is what it costs to compare a value with one that is equal.
func comparing(value any) time.Duration {
	switch value := value.(type) {
	case json.Number, float64:
		return priceOfNumber
	case string:
		return priceOfName + time.Duration(len(value)/8) // nanoseconds
	case []any:
		total := priceOfName
		for _, each := range value {
			total += comparing(each)
		}
		return total
	case map[string]any:
		total := priceOfName
		for name, each := range value {
			total += priceOfName + time.Duration(len(name)) + comparing(each)
		}
		return total
	}
	return priceOfName
}
