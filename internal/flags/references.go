package flags

import (
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

// references lists what a flag's rules refer to, each once.
func references(flag Flag) []Reference {
	seen := map[Reference]bool{}
	for _, environment := range flag.Environments {
		for _, rule := range environment.Rules {
			addReferences(rule, seen)
		}
	}
	found := make([]Reference, 0, len(seen))
	for reference := range seen {
		found = append(found, reference)
	}
	slices.SortFunc(found, func(a, b Reference) int {
		return strings.Compare(a.ContextType+":"+a.ContextKey, b.ContextType+":"+b.ContextKey)
	})
	return found
}

// addReferences notes every variable that a rule names, `missing` included. The
// targeting key that `fractional` hashes by itself is named by no rule.
func addReferences(rule Rule, seen map[Reference]bool) {
	compiled, err := jsonlogic.Compile(rule.Logic)
	if err != nil {
		return // a stored rule compiles; one that does not refers to nothing
	}
	for _, reference := range compiled.References() {
		if contextType, _, _ := strings.Cut(reference.Path, "."); reference.Operator != "fractional" && observations.IsLabel(contextType) {
			seen[Reference{ContextType: contextType}] = true
		}
	}
	for _, comparison := range compiled.Comparisons() {
		contextType, member, _ := strings.Cut(comparison.Path, ".")
		key, isKey := comparedKey(comparison.Literal)
		if isKey && member == "key" && observations.IsLabel(contextType) && observations.IsLabel(key) { // no context has another key
			seen[Reference{ContextType: contextType, ContextKey: key}] = true
		}
	}
}

// comparedKey is the key that a literal can be: a text or a number.
func comparedKey(literal jsonlogic.Value) (string, bool) {
	isKey := literal.Kind() == jsonlogic.KindString || literal.Kind() == jsonlogic.KindNumber
	return literal.String(), isKey
}
