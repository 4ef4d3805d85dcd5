package configs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/signalbox/signalbox/internal/fault"
)

// Limits of a schema, beside those of its patterns.
const (
	MaxSchema        = 64 << 10 // bytes of JSON text
	MaxSchemaNesting = 64
	MaxSchemaNodes   = 2000 // values of any kind in the schema's text
)

// schemaURL is what a schema is called while it is compiled. Nothing is ever
// loaded from there, or from anywhere.
const schemaURL = "https://signalbox.invalid/schema.json"

// draft is the only dialect of schemas that is understood.
const draft = "https://json-schema.org/draft/2020-12/schema"

// breach is a place where a value breaks a schema, or a schema the rules of
// schemas.
type breach struct {
	pointer string // inside the value or the schema: "" or "/…"
	detail  string
}

// schema is a compiled schema. Its checks use up the budget that it was
// compiled with.
type schema struct {
	compiled *jsonschema.Schema
	budget   *budget
	size     int // bytes of its text
}

// nowhere refuses to load anything: a schema stands alone.
type nowhere struct{}

func (nowhere) Load(string) (any, error) {
	return nil, errors.New("a schema may refer to itself only")
}

// What compiling a schema costs.
const (
	priceOfSchema = 50 * time.Microsecond
	priceOfNode   = 20 * time.Microsecond // of a value that the schema is made of
	priceOfDepth  = 4 * time.Microsecond  // of a node, for every level that it is deep
)

// compileSchema reads a schema. The breaches say why it cannot be used.
func compileSchema(text json.RawMessage, work *budget) (schema, []breach) {
	switch {
	case len(text) > MaxSchema:
		return schema{}, refused("has %d bytes; at most %d are allowed", len(text), MaxSchema)
	case nesting(text) > MaxSchemaNesting:
		return schema{}, refused("is nested more than %d levels deep", MaxSchemaNesting)
	}
	work.spend(reading(text))
	document := plain(text)
	nodes, cost := compiling(document, 1)
	if nodes > MaxSchemaNodes {
		return schema{}, refused("is made of more than %d values", MaxSchemaNodes)
	}
	if work.spend(priceOfSchema + cost); work.spent() {
		return schema{}, tooMuchTogether()
	}
	if at, found := otherDialect(document, ""); found {
		return schema{}, []breach{{pointer: at, detail: "must be " + draft + " or left out: no other draft is understood"}}
	}
	compiler := newCompiler(work)
	if err := compiler.AddResource(schemaURL, document); err != nil {
		return schema{}, refused("cannot be read: %v", err)
	}
	compiled, err := compiler.Compile(schemaURL)
	switch {
	case work.spent():
		return schema{}, tooMuchTogether()
	case err != nil:
		return schema{}, whyNotCompiled(err)
	case !work.watch(compiler, compiled, document):
		return schema{}, refused("must refer to itself only, not to a schema elsewhere")
	}
	return schema{compiled: compiled, budget: work, size: len(text)}, nil
}

// refused says why a schema as a whole cannot be used.
func refused(format string, args ...any) []breach {
	return []breach{{detail: fmt.Sprintf(format, args...)}}
}

func tooMuchTogether() []breach {
	return refused("takes too much work, alone or together with the others; make them simpler")
}

// compiling counts the values that a schema is made of, and what it costs to
// compile them.
func compiling(document any, depth int) (nodes int, cost time.Duration) {
	nodes, cost = 1, priceOfNode+time.Duration(depth)*priceOfDepth
	add := func(value any) {
		below, more := compiling(value, depth+1)
		nodes, cost = nodes+below, cost+more
	}
	switch document := document.(type) {
	case map[string]any:
		for _, value := range document {
			add(value)
		}
	case []any:
		for _, value := range document {
			add(value)
		}
	}
	return nodes, cost
}

func newCompiler(work *budget) *jsonschema.Compiler {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(nowhere{})
	compiler.UseRegexpEngine(work.pattern)
	return compiler
}

// otherDialect finds a schema, or a part of one, that names another draft.
func otherDialect(document any, at string) (string, bool) {
	switch document := document.(type) {
	case map[string]any:
		if name, named := document["$schema"].(string); named && strings.TrimSuffix(name, "#") != draft {
			return at + "/$schema", true
		}
		for member, value := range document {
			if place, found := otherDialect(value, at+"/"+fault.Escape(member)); found {
				return place, true
			}
		}
	case []any:
		for i, value := range document {
			if place, found := otherDialect(value, fmt.Sprint(at, "/", i)); found {
				return place, true
			}
		}
	}
	return "", false
}

// whyNotCompiled finds the places in a schema that make it unusable.
func whyNotCompiled(err error) []breach {
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if broken, ok := errors.AsType[*jsonschema.ValidationError](invalid.Err); ok {
			found := breaches(broken)
			for i := range found {
				found[i] = breach{pointer: within(invalid.URL) + found[i].pointer, detail: "is no valid schema: " + found[i].detail}
			}
			return found
		}
	}
	if invalid, ok := errors.AsType[*jsonschema.InvalidRegexError](err); ok {
		return []breach{{pointer: within(invalid.URL), detail: "has a pattern that cannot be used: " + invalid.Err.Error()}}
	}
	if foreign, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return refused("refers to %q, but a schema may refer to itself only", foreign.URL)
	}
	return refused("is no valid schema: %s", strings.ReplaceAll(err.Error(), schemaURL, ""))
}

// within is the JSON pointer of a place in the schema that is being compiled.
func within(location string) string {
	_, fragment, _ := strings.Cut(location, "#")
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return ""
	}
	return pointer
}

// validate gives the places where a value breaks the schema.
func (s schema) validate(document any) []breach {
	s.budget.spend(own(s.compiled))
	err := s.compiled.Validate(document)
	if err == nil {
		return nil
	}
	if broken, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		s.budget.spend(maxBreaches * time.Duration(s.size) * priceOfByte) // sentences quote the schema
		return breaches(broken)
	}
	return refused("%v", err)
}

// maxBreaches is how many places of one value are named.
const maxBreaches = 20

// breaches lists the places that an error is about. Alternatives are not
// listed: none of them is what is wrong.
func breaches(err *jsonschema.ValidationError) []breach {
	var found []breach
	var visit func(*jsonschema.ValidationError)
	visit = func(err *jsonschema.ValidationError) {
		switch err.ErrorKind.(type) {
		case *kind.AnyOf, *kind.OneOf, *kind.Not, *kind.Contains, *kind.MinContains, *kind.PropertyNames:
		default:
			for _, cause := range err.Causes {
				visit(cause)
			}
			if len(err.Causes) > 0 {
				return
			}
		}
		if len(found) < maxBreaches {
			found = append(found, breach{pointer: pointerTo(err.InstanceLocation), detail: sentence(err)})
		}
	}
	visit(err)
	slices.SortStableFunc(found, func(a, b breach) int { return strings.Compare(a.pointer, b.pointer) })
	return found
}

// sentence says what one error is about, without what caused it.
func sentence(err *jsonschema.ValidationError) string {
	const enough = 300
	if broken, ok := err.ErrorKind.(*kind.Pattern); ok { // which would quote the whole value
		return fmt.Sprintf("does not match the pattern %q", broken.Want)
	}
	alone := *err
	alone.Causes = nil
	text := []rune(alone.BasicOutput().Error.String())
	if len(text) > enough {
		return string(text[:enough]) + "…"
	}
	return string(text)
}

func pointerTo(steps []string) string {
	var pointer strings.Builder
	for _, step := range steps {
		pointer.WriteString("/" + fault.Escape(step))
	}
	return pointer.String()
}

// plain decodes JSON for the validator. It computes with exact fractions, so
// numbers that would make those huge are rounded.
func plain(text json.RawMessage) any {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	_ = decoder.Decode(&value) // the text is valid JSON
	return tame(value)
}

func tame(value any) any {
	switch value := value.(type) {
	case json.Number:
		if len(value) <= 40 && !strings.ContainsAny(value.String(), "eE") {
			return value
		}
		number, _ := value.Float64() // one that is too large becomes the largest
		return max(-math.MaxFloat64, min(math.MaxFloat64, number))
	case []any:
		for i := range value {
			value[i] = tame(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = tame(value[name])
		}
	}
	return value
}
