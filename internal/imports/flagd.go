package imports

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

type flagdFile struct {
	Flags      map[string]flagdFlag `json:"flags"`
	Evaluators map[string]any       `json:"$evaluators"`
}

type flagdFlag struct {
	State     string                     `json:"state"`
	Variants  map[string]json.RawMessage `json:"variants"`
	Default   *string                    `json:"defaultVariant"`
	Targeting any                        `json:"targeting"`
}

// flagd imports a flag definition of flagd, whose rules are JSON Logic too: they result in the name of a variant.
func flagd(documents [][]byte, options Options) (Result, error) {
	return collect(documents, "flag definition of flagd", func(c *collector, file flagdFile) {
		for _, key := range slices.Sorted(maps.Keys(file.Flags)) {
			c.flagd(key, file.Flags[key], file.Evaluators, options.Environment)
		}
	})
}

func (c *collector) flagd(key string, from flagdFlag, evaluators map[string]any, where string) {
	names := slices.Sorted(maps.Keys(from.Variants))
	if from.Default == nil || from.Variants[*from.Default] == nil {
		c.lose("flag %s: left out, because it has no defaultVariant; what the code falls back to is not known here.", key)
		return
	}
	var values []json.RawMessage
	made := flag{ID: key, Default: from.Variants[*from.Default]}
	for _, name := range names {
		values = append(values, from.Variants[name])
		made.Values = append(made.Values, choice{name, from.Variants[name]})
	}
	if made.Type = typeOf(values); made.Type == "BOOLEAN" {
		made.Values = nil
	}
	place := environment{Enabled: from.State != "DISABLED"}
	if targeting, err := flagdLogic(from.Targeting, evaluators, 0); err != nil {
		c.lose("flag %s: its targeting is left out, because %v; everybody gets the variant %q.", key, err, *from.Default)
	} else if object, is := targeting.(map[string]any); is && len(object) > 0 {
		place.Rules = flagdRules(targeting, from.Variants, names)
	}
	made.Environments = map[string]environment{where: place}
	c.addFlag(made)
}

// flagdRules returns a rule for every branch of an if whose results are names, and else one for every variant, which asks the
// whole targeting.
func flagdRules(targeting any, variants map[string]json.RawMessage, names []string) (rules []rule) {
	if branches, is := flagdBranches(targeting, variants); is {
		return branches
	}
	for _, name := range names {
		condition := apply("==", targeting, name)
		if name == "true" || name == "false" { // results that are no text count as their text
			condition = apply("in", targeting, []any{name, name == "true"})
		}
		rules = append(rules, rule{Description: "Variant " + name, Logic: condition, Value: variants[name]})
	}
	return rules
}

// flagdBranches takes an if apart: [condition, variant, condition, variant, …, variant].
func flagdBranches(targeting any, variants map[string]json.RawMessage) (rules []rule, is bool) {
	object, _ := targeting.(map[string]any)
	branches, is := object["if"].([]any)
	if !is || len(object) != 1 {
		return nil, false
	}
	for len(branches) > 0 {
		condition, result := logic(true), branches[0]
		if len(branches) > 1 {
			condition, result = branches[0], branches[1]
		}
		branches = branches[min(2, len(branches)):]
		if result == nil { // the default
			if len(branches) > 0 {
				return nil, false
			}
			continue
		}
		name := fmt.Sprint(result)
		value, known := variants[name]
		if !known {
			return nil, false
		}
		rules = append(rules, rule{Description: "Variant " + name, Logic: condition, Value: value})
	}
	return rules, true
}

// flagdLogic returns a rule with shared evaluators in their places and with variables as they are called here: what flagd has
// at the top of a context are attributes of the user.
func flagdLogic(from any, evaluators map[string]any, depth int) (any, error) {
	const deepest = 50
	if depth > deepest {
		return nil, fmt.Errorf("it is nested more than %d times, or refers to itself", deepest)
	}
	switch from := from.(type) {
	case []any:
		list := make([]any, len(from))
		for i, each := range from {
			var err error
			if list[i], err = flagdLogic(each, evaluators, depth+1); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		return flagdObject(from, evaluators, depth)
	}
	return from, nil
}

func flagdObject(from, evaluators map[string]any, depth int) (any, error) {
	if name, is := from["$ref"].(string); is {
		shared, known := evaluators[name]
		if !known {
			return nil, fmt.Errorf("there is no evaluator %q", name)
		}
		return flagdLogic(shared, evaluators, depth+1)
	}
	made := map[string]any{}
	for operator, arguments := range from {
		translated, err := flagdLogic(arguments, evaluators, depth+1)
		if err != nil {
			return nil, err
		}
		if operator == "var" {
			if translated, err = flagdVariable(translated); err != nil {
				return nil, err
			}
		}
		made[operator] = translated
	}
	return made, nil
}

// flagdVariable renames a variable, which may be in a list with a default behind it.
func flagdVariable(argument any) (any, error) {
	if list, is := argument.([]any); is && len(list) > 0 {
		first, err := flagdVariable(list[0])
		if err != nil {
			return nil, err
		}
		return slices.Concat([]any{first}, list[1:]), nil
	}
	name, is := argument.(string)
	switch {
	case name == "$flagd.timestamp":
		return nil, fmt.Errorf("rules cannot read the time")
	case name == "targetingKey":
		return userKey, nil
	case !is || name == "" || strings.Contains(name, "."): // of an object, which is a context type here
		return argument, nil
	}
	return "user." + name, nil
}
