package fault

import (
	"fmt"
	"slices"
	"strings"
)

// Errors is several refusals of one request, so that a caller sees all
// problems of a body at once.
type Errors []*Error

// Error joins the texts of all refusals.
func (e Errors) Error() string {
	texts := make([]string, len(e))
	for i, refusal := range e {
		texts[i] = refusal.Error()
	}
	return strings.Join(texts, "; ")
}

// Problems collects what is wrong with one input. The reader of the input
// starts it and the domain's rules go on with it, so both kinds of problem
// reach the caller together. The zero value is ready for use.
type Problems struct {
	found  Errors
	places map[Source]bool
}

// maxProblems is how many problems one input is told about; a body that is
// wrong in more places is wrong as a whole.
const maxProblems = 1000

// Add notes a refusal, unless its place is known to be wrong already: a
// member of the wrong type must not be reported as too short as well. Where the
// attributes are wrong as a whole, none of them has a problem of its own.
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

// Attribute notes that an attribute breaks a rule. The sentence starts with
// the rule ("must be …"); the attribute's name is put before it.
func (p *Problems) Attribute(path, format string, args ...any) {
	rule := fmt.Sprintf(format, args...)
	p.Add(New(Validation, "%s %s.", path, rule).At(Attribute(path)))
}

// Take notes the refusals of err that are about places of the input. Any other
// error is given back.
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

// Mentions tells whether an attribute has a problem already.
func (p *Problems) Mentions(path string) bool { return p.mentions(Attribute(path)) }

// Within tells whether an attribute, or anything in it, has a problem already.
func (p *Problems) Within(path string) bool {
	return p.Mentions(path) || slices.ContainsFunc(p.found, func(refusal *Error) bool {
		return refusal.Source.Kind == AttributeSource && strings.HasPrefix(refusal.Source.Path, path+"/")
	})
}

// Err is nil when nothing was found.
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
