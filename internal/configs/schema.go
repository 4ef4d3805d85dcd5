package configs

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// Limits of a schema. They are checked when it is written, so that values are checked in bounded time later.
const (
	MaxSchema        = 64 << 10 // bytes of JSON text
	MaxSchemaNesting = 64       // levels of arrays and objects
	MaxSchemaNodes   = 2000     // values of any kind in its text
	MaxSchemaDepth   = 32       // subschemas inside of each other, references followed
	MaxSchemaParts   = 5000     // subschemas that apply to a value, references followed
	MaxPattern       = 1000     // bytes of a pattern
	maxInstructions  = 5000     // of all patterns of a schema
)

// schemaURL is the name of every schema while it is compiled. Nothing is loaded from there.
const schemaURL = "https://signalbox.invalid/schema.json"

// draft is the only dialect of JSON Schema that is accepted.
const draft = "https://json-schema.org/draft/2020-12/schema"

const otherDraft = "must be " + draft + " or left out: no other draft is understood"

// violation is a place where a value breaks its schema, or where a schema is not usable.
type violation struct {
	pointer string // inside the value or the schema: "" or "/…"
	detail  string
}

// schema is a compiled schema, or the reasons why it cannot be used.
type schema struct {
	compiled *jsonschema.Schema
	weight   weight
	unusable []violation
}

func unusable(format string, args ...any) schema {
	return schema{unusable: []violation{{detail: fmt.Sprintf(format, args...)}}}
}

// schemas are the compiled schemas of one write, by their text. Sent schemas are compiled before the account's lock is
// taken; stored schemas that values must fit are added later.
type schemas struct {
	work  work
	known map[string]schema
}

func newSchemas() *schemas { return &schemas{work: maxSteps, known: map[string]schema{}} }

// compile returns the schema of a text.
func (s *schemas) compile(text json.RawMessage) schema {
	found, known := s.known[string(text)]
	if !known {
		found = compileSchema(text, &s.work)
		if !s.work.spent() { // otherwise it may be unusable only for lack of work
			s.known[string(text)] = found
		}
	}
	return found
}

// check returns the places where the merged layers of a value break any of the schemas.
func (s *schemas) check(texts []json.RawMessage, value layers) (found []violation) {
	for _, layer := range value {
		s.work.spend(1 + len(layer)/bytesPerStep)
	}
	if len(value) == 0 {
		return nil
	}
	if s.work.spent() {
		return tooMuchWork()
	}
	merged := value.merge()
	document := decode(merged)
	measured := measure(document)
	for _, text := range texts {
		s.work.spend(1 + len(text)/bytesHashedPerStep)
		schema := s.compile(text)
		switch {
		case !s.work.spend(schema.weight.steps(measured)):
			return tooMuchWork()
		case schema.unusable != nil: // another version of the program stored it
			found = append(found, violation{detail: "cannot be checked, because the schema " + schema.unusable[0].detail})
		default:
			found = append(found, violations(schema.compiled.Validate(document))...)
		}
		if len(found) > 0 {
			s.work.spend(maxViolations * (len(text) + len(merged)) / bytesPerStep) // the messages quote both
		}
	}
	return found
}

func tooMuchWork() []violation {
	return []violation{{detail: "takes too much work to check, alone or together with other items, environments and configs below; " +
		"make the value or its schemas smaller"}}
}

// noLoader refuses to load other schemas.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("a schema may refer to its own parts only")
}

// compileSchema compiles and weighs a schema, or says why it cannot be used.
func compileSchema(text json.RawMessage, work *work) schema {
	switch {
	case len(text) > MaxSchema:
		return unusable("has %d bytes; at most %d are allowed", len(text), MaxSchema)
	case rawjson.Depth(text) > MaxSchemaNesting:
		return unusable("is nested more than %d levels deep; make it flatter", MaxSchemaNesting)
	}
	document := decode(text)
	nodes := measure(document).values
	if nodes > MaxSchemaNodes {
		return unusable("is made of %d values; at most %d are allowed", nodes, MaxSchemaNodes)
	}
	if !work.spend(nodes * stepsPerNode) {
		return unusable("takes too much work together with the other schemas; make them smaller, or have fewer of them in one config")
	}
	if found := checkKeywords(document, ""); found != nil {
		return schema{unusable: found}
	}
	compiled, err := newCompiler(document).Compile(schemaURL)
	if err != nil {
		return schema{unusable: whyNotCompiled(err)}
	}
	scale := scale{weights: map[*jsonschema.Schema]weight{}, open: map[*jsonschema.Schema]bool{}}
	return schema{compiled: compiled, weight: scale.weigh(compiled), unusable: scale.found}
}

func newCompiler(document any) *jsonschema.Compiler {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(noLoader{})
	compiler.UseRegexpEngine(patterns{}.compile)
	_ = compiler.AddResource(schemaURL, document) // the URL is valid and new
	return compiler
}

// checkKeywords finds references to other schemas, and other drafts.
func checkKeywords(document any, at string) (found []violation) {
	switch document := document.(type) {
	case map[string]any:
		if name, is := document["$schema"].(string); is && strings.TrimSuffix(name, "#") != draft {
			return []violation{{at + "/$schema", otherDraft}}
		}
		if target, is := document["$ref"].(string); is && !strings.HasPrefix(target, "#") {
			return []violation{{at + "/$ref", "must begin with #, such as #/$defs/name: a schema may refer to its own parts only"}}
		}
		for _, name := range slices.Sorted(maps.Keys(document)) {
			isData := slices.Contains([]string{"const", "enum", "default", "examples"}, name) // not a schema
			if found == nil && !isData {
				found = checkKeywords(document[name], at+"/"+fault.Escape(name))
			}
		}
	case []any:
		for i, value := range document {
			if found == nil {
				found = checkKeywords(value, fmt.Sprint(at, "/", i))
			}
		}
	}
	return found
}

// scale weighs the subschemas of a compiled schema and finds one that breaks the limits.
type scale struct {
	weights map[*jsonschema.Schema]weight
	open    map[*jsonschema.Schema]bool // being weighed
	found   []violation
}

func (s *scale) weigh(part *jsonschema.Schema) weight {
	if known, weighed := s.weights[part]; weighed || part == nil || s.found != nil {
		return known
	}
	s.open[part] = true
	s.checkPart(part)
	total := ownWeight(part)
	for _, below := range appliedTogether(part) {
		total = total.plus(s.weigh(below))
	}
	var one weight // a member or an element meets only one of these
	for _, below := range slices.AppendSeq(slices.Clone(part.PrefixItems), maps.Values(part.Properties)) {
		one = one.or(s.weigh(below))
	}
	total = total.plus(one)
	total.depth++
	switch {
	case s.found != nil:
	case total.depth > MaxSchemaDepth:
		s.refuse(part, "", "has subschemas more than %d levels inside of each other, references followed; make it flatter", MaxSchemaDepth)
	case total.parts > MaxSchemaParts:
		s.refuse(part, "", "comes to more than %d subschemas, references followed; refer to them less often", MaxSchemaParts)
	}
	delete(s.open, part)
	s.weights[part] = total
	return total
}

// checkPart refuses other drafts, and keywords whose work depends on the value.
func (s *scale) checkPart(part *jsonschema.Schema) {
	const unbounded = "is not supported, because what it takes to check depends on the value; "
	switch {
	case part.DraftVersion != 2020:
		s.refuse(part, "/$schema", otherDraft)
	case part.DynamicRef != nil:
		s.refuse(part, "/$dynamicRef", unbounded+"use $ref")
	case part.DynamicAnchor != "":
		s.refuse(part, "/$dynamicAnchor", unbounded+"use $anchor or $defs")
	case part.UnevaluatedProperties != nil:
		s.refuse(part, "/unevaluatedProperties", unbounded+"use additionalProperties")
	case part.UnevaluatedItems != nil:
		s.refuse(part, "/unevaluatedItems", unbounded+"use items")
	case s.open[part.Ref]:
		s.refuse(part, "/$ref", "must not lead back to a schema that it is a part of: write the levels out, or leave the inner ones unchecked")
	}
}

func (s *scale) refuse(part *jsonschema.Schema, keyword, format string, args ...any) {
	s.found = []violation{{pointerIn(part.Location) + keyword, fmt.Sprintf(format, args...)}}
}

// appliedTogether returns the subschemas that may all apply to one value, or to each of its elements or members.
func appliedTogether(s *jsonschema.Schema) []*jsonschema.Schema {
	parts := slices.Concat([]*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else, s.Contains, s.Items2020, s.PropertyNames},
		s.AllOf, s.AnyOf, s.OneOf, slices.Collect(maps.Values(s.DependentSchemas)), slices.Collect(maps.Values(s.PatternProperties)))
	others := slices.AppendSeq([]any{s.AdditionalProperties}, maps.Values(s.Dependencies))
	for _, other := range others {
		if part, is := other.(*jsonschema.Schema); is {
			parts = append(parts, part)
		}
	}
	return parts
}

// whyNotCompiled finds the places in a schema that make it unusable.
func whyNotCompiled(err error) []violation {
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		found := violations(invalid.Err)
		for i := range found {
			found[i] = violation{pointerIn(invalid.URL) + found[i].pointer, "is no valid schema: " + found[i].detail}
		}
		return found
	}
	return unusable("is no valid schema: %s", strings.ReplaceAll(err.Error(), schemaURL, "")).unusable
}

// pointerIn returns the JSON pointer of a location in the schema.
func pointerIn(location string) string {
	_, fragment, _ := strings.Cut(location, "#")
	pointer, _ := url.PathUnescape(fragment) // the library escaped it
	return pointer
}

// decode decodes JSON for the validator, which computes with exact fractions. It rounds numbers whose fractions may be huge.
func decode(text json.RawMessage) any {
	value, _ := rawjson.Decode[any](text) // the text is valid JSON
	return rawjson.ReplaceNumbers(value, roundNumber)
}

func roundNumber(value json.Number) any {
	if len(value) <= 40 && !strings.ContainsAny(value.String(), "eE") {
		return value
	}
	number, _ := value.Float64() // a number out of range becomes infinite
	return max(-math.MaxFloat64, min(math.MaxFloat64, number))
}
