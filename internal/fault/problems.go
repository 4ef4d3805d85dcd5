package fault

import (
	"fmt"
	"slices"
	"strings"
)

// Errors is several refusals of one request, for a caller to see at once.
type Errors []*Error

// Error returns the texts of all refusals.
func (e Errors) Error() string {
	texts := make([]string, len(e))
	for i, refusal := range e {
		texts[i] = refusal.Error()
	}
	return strings.Join(texts, "; ")
}

// Problems collects what is wrong with one input, first what its reader finds and
// then what the domain's rules find. The zero value is ready for use.
type Problems struct {
	found    Errors
	places   map[Source]bool
	warnings *[]Warning // shared by copies; nil drops them
}

// Warning is something in an input that is accepted and probably not meant.
type Warning struct {
	Source Source
	Detail string
}

// WithWarnings returns Problems that keep warnings too. Copies share them, so that whoever passes Problems on with a draft
// still sees what the domain's rules warn of.
func WithWarnings() *Problems { return &Problems{warnings: new([]Warning)} }

// maxProblems is how many problems of one input are reported.
const maxProblems = 1000

// Add notes a refusal, unless its place has one already: a member of the wrong
// type is not reported as too short as well. If the attributes are wrong as a
// whole, none of them is reported.
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

// Attribute notes that an attribute breaks a rule ("must be …"). The sentence is
// the path and the rule.
func (p *Problems) Attribute(path, format string, args ...any) {
	rule := fmt.Sprintf(format, args...)
	p.Add(New(Validation, "%s %s.", path, rule).At(Attribute(path)))
}

// Warn notes something that is accepted and probably not meant, once: a transaction may run again.
func (p *Problems) Warn(source Source, format string, args ...any) {
	warning := Warning{source, fmt.Sprintf(format, args...)}
	if p.warnings == nil || len(*p.warnings) >= maxProblems || slices.Contains(*p.warnings, warning) {
		return
	}
	*p.warnings = append(*p.warnings, warning)
}

// Warnings returns what was warned of, in order.
func (p *Problems) Warnings() []Warning {
	if p.warnings == nil {
		return nil
	}
	return *p.warnings
}

// Take notes the refusals of err if all are about places of the input, and
// returns any other error.
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

// Err returns what was found; nil when that is nothing.
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
