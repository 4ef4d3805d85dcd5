package flags

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/signalbox/signalbox/client/flageval"
)

// The JSON:API types of this package.
const (
	Kind       = "flag"
	KindSource = "flag_source"
)

const (
	maxName        = 255
	maxDescription = 2000
)

// Choice is one of the values that a constrained flag may serve.
type Choice struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// Rule serves a value when its logic is true.
type Rule struct {
	Description string          `json:"description"`
	Logic       json.RawMessage `json:"logic"`
	Value       json.RawMessage `json:"value"`
}

// Environment is a flag's configuration for one environment.
type Environment struct {
	Enabled bool            `json:"enabled"`
	Default json.RawMessage `json:"default"` // nil: the flag's default
	Rules   []Rule          `json:"rules"`
}

// Flag is a typed, named decision.
type Flag struct {
	Account     string          `json:"-"`
	Key         string          `json:"-"`
	Name        string          `json:"name"`
	Description *string         `json:"description"`
	Type        flageval.Type   `json:"type"`
	Default     json.RawMessage `json:"default"`
	// Values are the choices of a constrained flag; nil is unconstrained.
	Values       []Choice               `json:"values"`
	Managed      bool                   `json:"managed"`
	Environments map[string]Environment `json:"environments"`
	// LastSeen is the last declaration of the flag by a service, LastEvaluated
	// the last reported evaluation. Both are observed, not configured.
	LastSeen      *time.Time `json:"last_seen"`
	LastEvaluated *time.Time `json:"last_evaluated"`
	CreatedAt     time.Time  `json:"created_at"`
	UpdatedAt     time.Time  `json:"updated_at"`
	// Stale is set by Service.Flag, and by Service.Flags with Filter.Stale. It is nil if the flag is not stale.
	Stale *Stale `json:"stale,omitempty"`
}

// Definition returns the flag without its observed members.
func (f Flag) Definition() any { return definition{plain: plain(f)} }

// Recorded returns the flag as the history stores it.
func (f Flag) Recorded() any { return f.Definition() }

// plain is a Flag without the method Definition.
type plain Flag

// definition shadows the observed members of a flag with fields that are always
// omitted.
type definition struct {
	plain
	LastSeen      *time.Time `json:"last_seen,omitempty"`
	LastEvaluated *time.Time `json:"last_evaluated,omitempty"`
	Stale         *Stale     `json:"stale,omitempty"`
}

// Compiled returns the flag ready for evaluation.
func (f Flag) Compiled() *flageval.Flag {
	compiled := flageval.Definition{Key: f.Key, Type: f.Type, Default: f.Default,
		Environments: make(map[string]flageval.Environment, len(f.Environments))}
	for key, environment := range f.Environments {
		rules := make([]flageval.Rule, len(environment.Rules))
		for i, rule := range environment.Rules {
			rules[i] = flageval.Rule{Description: rule.Description, Logic: rule.Logic, Value: rule.Value}
		}
		compiled.Environments[key] = flageval.Environment{Enabled: environment.Enabled, Default: environment.Default, Rules: rules}
	}
	return flageval.Compile(compiled)
}

// variants maps the text of each served value to the name of its choice, as a
// JSON string.
type variants map[string]json.RawMessage

// variants returns nil for an unconstrained flag.
func (f Flag) variants() variants {
	choices, names := f.choiceNames(), variants{}
	if choices == nil {
		return nil
	}
	for value := range f.served() {
		names.add(choices, value)
	}
	return names
}

// served yields every value that the flag can serve.
func (f Flag) served() iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		if !yield(f.Default) {
			return
		}
		for _, environment := range f.Environments {
			if environment.Default != nil && !yield(environment.Default) {
				return
			}
			for _, rule := range environment.Rules {
				if !yield(rule.Value) {
					return
				}
			}
		}
	}
}

func (v variants) add(choices choiceNames, value json.RawMessage) {
	if _, named := v[string(value)]; named {
		return
	}
	if name, listed := choices.of(value); listed {
		v[string(value)], _ = json.Marshal(name) // a string always encodes
	}
}

// CountRules counts the rules over all environments.
func (f Flag) CountRules() int {
	count := 0
	for _, environment := range f.Environments {
		count += len(environment.Rules)
	}
	return count
}

// readable returns a name for a key: "checkout-v2" becomes "Checkout V2".
func readable(key string) string {
	words := strings.FieldsFunc(key, func(c rune) bool { return strings.ContainsRune("-_.", c) })
	for i, word := range words {
		letters := []rune(word)
		letters[0] = unicode.ToUpper(letters[0])
		words[i] = string(letters)
	}
	if len(words) == 0 {
		return key
	}
	return strings.Join(words, " ")
}

// ParseType parses a type in any case.
func ParseType(text string) (flageval.Type, bool) {
	parsed := flageval.Type(strings.ToUpper(text))
	return parsed, slices.Contains([]flageval.Type{flageval.Boolean, flageval.String, flageval.Numeric, flageval.JSON}, parsed)
}

// Sent returns a function from a served value to its text for typed clients, and to the name of its choice as a JSON
// string, or nil.
func (f Flag) Sent() func(value json.RawMessage) (text, name json.RawMessage) {
	decimals, variants := f.decimals(), f.variants()
	return func(value json.RawMessage) (text, name json.RawMessage) {
		return decimals.of(value), variants[string(value)]
	}
}
