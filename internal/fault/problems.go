package fault

import (
	"fmt"
	"slices"
	"strings"
)

// Errors has several refusals of one request, so that a caller sees all at once.
type Errors []*Error

// Error returns the texts of all refusals.
func (e Errors) Error() string {
	texts := make([]string, len(e))
	for i, refusal := range e {
		texts[i] = refusal.Error()
	}
	return strings.Join(texts, "; ")
}

// Problems collects the refusals of one input: first the refusals of its reader, then
// of the domain's rules. The zero value is ready for use.
type Problems struct {
	found    Errors
	places   map[Source]bool
	warnings *[]Warning // shared by copies; nil drops warnings
}

// Warning is a probable mistake in an input that is accepted.
type Warning struct {
	Source Source
	Detail string
}

// WithWarnings returns Problems that keep warnings too. Copies share the warnings: a caller that passes a copy to the domain
// still sees the warnings of the domain's rules.
func WithWarnings() *Problems { return &Problems{warnings: new([]Warning)} }

// maxProblems is how many problems of one input are reported.
const maxProblems = 1000

// Add adds a refusal unless its place already has one: a member of the wrong type is
// not also reported as too short. If the attributes as a whole are wrong, no single
// attribute is reported.
func (p *Problems) Add(refusal *Error) {
	if len(p.found) >= maxProblems || (refusal.Source.Kind != NoSource && p.mentions(refusal.Source)) {
		return
	}
	p.found = append(p.found, refusal)
	if p.places == nil {
		p.places = map[Source]bool{}
	}
	p.places[refusal.Source] = true
}

// Attribute adds the refusal of an attribute that breaks a rule ("must be …"). The
// sentence is the path and the rule.
func (p *Problems) Attribute(path, format string, args ...any) {
	rule := fmt.Sprintf(format, args...)
	p.Add(New(Validation, "%s %s.", path, rule).At(Attribute(path)))
}

// Warn adds a warning, unless there is the same already: a transaction may run again.
func (p *Problems) Warn(source Source, format string, args ...any) {
	warning := Warning{source, fmt.Sprintf(format, args...)}
	if p.warnings == nil || len(*p.warnings) >= maxProblems || slices.Contains(*p.warnings, warning) {
		return
	}
	*p.warnings = append(*p.warnings, warning)
}

// Warnings returns the warnings, in order.
func (p *Problems) Warnings() []Warning {
	if p.warnings == nil {
		return nil
	}
	return *p.warnings
}

// Take adds the refusals of err if all of them have a place in the input. It returns
// any other error.
func (p *Problems) Take(err error) error {
	refusals := All(err)
	if len(refusals) == 0 || slices.ContainsFunc(refusals, func(refusal *Error) bool { return refusal.Source.Kind == NoSource }) {
		return err
	}
	for _, refusal := range refusals {
		p.Add(refusal)
	}
	return nil
}

// Mentions reports whether an attribute has a problem.
func (p *Problems) Mentions(path string) bool { return p.mentions(Attribute(path)) }

// Within reports whether an attribute, or anything in it, has a problem.
func (p *Problems) Within(path string) bool {
	return p.Mentions(path) || slices.ContainsFunc(p.found, func(refusal *Error) bool {
		return refusal.Source.Kind == AttributeSource && strings.HasPrefix(refusal.Source.Path, path+"/")
	})
}

// Err returns the refusals as one error, or nil if there are none.
func (p *Problems) Err() error {
	switch len(p.found) {
	case 0:
		return nil
	case 1:
		return p.found[0]
	}
	return p.found
}

func (p *Problems) mentions(source Source) bool {
	return p.places[source] || (source.Kind == AttributeSource && p.places[Attribute("")])
}
