package flags

import (
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/client/jsonlogic"
	"github.com/signalbox/signalbox/internal/observations"
)

// Reference is something that a flag's rules look at: a context type, or with
// a key one context of it.
type Reference struct {
	ContextType string
	ContextKey  string // "" for the type as a whole
}

// referenceSet collects what rules refer to.
type referenceSet map[Reference]bool

// references returns what a stored flag's rules refer to.
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

// add adds every variable that a rule names, `missing` included. The targeting
// key that `fractional` hashes by itself is named by no rule.
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
		if isKey && member == "key" && observations.IsLabel(contextType) && observations.IsLabel(key) { // no context has another key
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
