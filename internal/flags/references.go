package flags

import (
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/client/jsonlogic"
	"github.com/signalbox/signalbox/internal/observations"
)

// Reference is a context type that a flag's rules use, or with a key one context
// of that type.
type Reference struct {
	ContextType string
	ContextKey  string // "" for the type as a whole
}

// referenceSet collects the references of rules.
type referenceSet map[Reference]bool

// references returns the references of a stored flag's rules.
func references(flag Flag) []Reference {
	found := referenceSet{}
	for _, environment := range flag.Environments {
		for _, rule := range environment.Rules {
			if compiled, err := jsonlogic.Compile(rule.Logic); err == nil { // a stored rule compiles
				found.add(compiled)
			}
		}
	}
	return found.list()
}

// add adds the references of a rule, including the ones in `missing`. It skips the
// targeting key that `fractional` hashes by default: the rule does not name it.
func (s referenceSet) add(rule *jsonlogic.Rule) {
	for _, reference := range rule.References() {
		if contextType, _, _ := strings.Cut(reference.Path, "."); reference.Operator != "fractional" && observations.IsLabel(contextType) {
			s[Reference{ContextType: contextType}] = true
		}
	}
	for _, comparison := range rule.Comparisons() {
		contextType, member, _ := strings.Cut(comparison.Path, ".")
		kind, key := comparison.Literal.Kind(), comparison.Literal.String()
		isKey := kind == jsonlogic.KindString || kind == jsonlogic.KindNumber
		if isKey && member == "key" && observations.IsLabel(contextType) && observations.IsLabel(key) { // every key of a context is a label
			s[Reference{ContextType: contextType, ContextKey: key}] = true
		}
	}
}

// list returns the references in a fixed order.
func (s referenceSet) list() []Reference {
	return slices.SortedFunc(maps.Keys(s), func(a, b Reference) int {
		return strings.Compare(a.ContextType+":"+a.ContextKey, b.ContextType+":"+b.ContextKey)
	})
}
