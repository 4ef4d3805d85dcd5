package flags

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/jsonlogic"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/overrides"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// checker enforces that every value a flag can serve is allowed, and every rule
// evaluates. The choices are prepared once, so that a check costs the same
// however many there are.
type checker struct {
	problems   *fault.Problems
	key        string
	base       json.RawMessage // the flag's own default
	kind       flageval.Type   // "" if unknown: every value fits
	choices    choiceNames
	references referenceSet // of the checked rules
}

func newChecker(problems *fault.Problems, flag Flag, references referenceSet) checker {
	return checker{problems: problems, key: flag.Key, base: flag.Default, kind: flag.Type, choices: flag.choiceNames(), references: references}
}

// value checks a value that the flag may serve.
func (c checker) value(path string, value json.RawMessage) {
	if !c.fits(path, value) || c.choices == nil {
		return
	}
	if _, listed := c.choices.of(value); !listed {
		c.problems.Attribute(path, "must be one of the flag's values")
	}
}

func (c checker) fits(path string, value json.RawMessage) bool {
	switch {
	case len(value) > maxValueBytes:
		c.problems.Attribute(path, "must have at most %d bytes as JSON", maxValueBytes)
		return false
	case c.kind != "" && !flageval.Fits(c.kind, value):
		c.problems.Attribute(path, "must be %s, as the flag is %s", noun(c.kind), c.kind)
		return false
	}
	return true
}

func (c checker) environment(key string, environment Environment) {
	path := overrides.Path(key)
	if environment.Default != nil {
		c.value(path+"/default", environment.Default)
		c.warnDefault(path+"/default", environment.Default)
	}
	reach := reach{problems: c.problems, environment: key, seen: map[string]int{}}
	for i, rule := range environment.Rules {
		at := fmt.Sprintf("%s/rules/%d", path, i)
		c.value(at+"/value", rule.Value)
		reach.warn(i+1, at, rule.Logic, c.logic(at+"/logic", rule.Logic))
		naming.CheckDescription(c.problems, at+"/description", rule.Description, maxDescription)
	}
}

// maxRuleSteps bounds the steps of the loops of a rule, as far as they are known when the rule is written.
const maxRuleSteps = 100_000

// logic checks that a rule evaluates and returns it compiled, or nil.
func (c checker) logic(path string, logic json.RawMessage) *jsonlogic.Rule {
	if len(logic) == 0 || logic[0] != '{' {
		c.problems.Attribute(path, `must be an object: a JSON Logic expression such as {"==": [{"var": "user.plan"}, "pro"]}`)
		return nil
	}
	compiled, err := jsonlogic.Compile(logic, jsonlogic.FlagKey(c.key))
	if refused, ok := errors.AsType[*jsonlogic.Error](err); ok {
		c.problems.Add(fault.New(fault.Validation, "%s is no usable rule: %s.", path, refused.Detail).
			At(fault.Attribute(path + refused.Pointer)))
		return nil
	}
	if steps := compiled.Steps(); steps > maxRuleSteps {
		c.problems.Add(fault.New(fault.Validation, "%s is no usable rule: its loops take %d steps, and a rule may take %d. Use shorter lists or fewer nested loops.",
			path, steps, maxRuleSteps).At(fault.Attribute(path)))
		return nil
	}
	c.references.add(compiled)
	return compiled
}

// choiceNames maps the canonical text of each value of a constrained flag to the
// name of its choice. It is nil for an unconstrained flag.
type choiceNames map[string]string

func (f Flag) choiceNames() choiceNames {
	if len(f.Values) == 0 {
		return nil
	}
	names := make(choiceNames, len(f.Values))
	for _, choice := range f.Values {
		names[string(rawjson.Canonical(choice.Value))] = choice.Name
	}
	return names
}

// of returns the name of the choice with a value.
func (n choiceNames) of(value json.RawMessage) (string, bool) {
	name, listed := n[string(rawjson.Canonical(value))]
	return name, listed
}
