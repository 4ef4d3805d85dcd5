package imports

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/client/flageval"
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
	Metadata  map[string]any             `json:"metadata"`
}

// flagd imports a flag definition of flagd. Its rules are JSON Logic too, and their result is the name of a variant.
func flagd(documents [][]byte, options Options) (Result, error) {
	return collect(documents, "flag definition of flagd", func(c *collector, file flagdFile) {
		for _, key := range slices.Sorted(maps.Keys(file.Flags)) {
			c.flagd(key, file.Flags[key], file.Evaluators, options.Environment)
		}
	})
}

func (c *collector) flagd(key string, from flagdFlag, evaluators map[string]any, where string) {
	if from.Default != nil && from.Variants[*from.Default] == nil {
		c.lose("flag %s: left out, because its defaultVariant %q is not one of its variants.", key, *from.Default)
		return
	}
	if from.Default == nil {
		c.lose("flag %s: left out, because it has no defaultVariant, and the file does not have the fallback of the code.", key)
		return
	}
	names := slices.Sorted(maps.Keys(from.Variants))
	var values []json.RawMessage
	for _, name := range names {
		values = append(values, from.Variants[name])
	}
	made := flag{ID: key, Default: from.Variants[*from.Default], Type: typeOf(values)}
	if made.Type != flageval.Boolean {
		made.Values = c.choices(key, names, values)
	}
	if from.State == "DISABLED" {
		c.lose("flag %s: it is disabled, and flagd lets the code decide; here everybody gets the variant %q until it is enabled.", key, *from.Default)
	}
	if len(from.Metadata) > 0 {
		c.lose("flag %s: its metadata is left out.", key)
	}
	made.Environments = map[string]environment{where: {Enabled: from.State != "DISABLED", Rules: c.flagdRules(made, from, evaluators)}}
	c.addFlag(made)
}

// flagdRules returns one rule per branch if the targeting is an if whose results are names of variants. Otherwise it
// returns one rule per variant, and each of them evaluates the whole targeting.
func (c *collector) flagdRules(made flag, from flagdFlag, evaluators map[string]any) (rules []rule) {
	t := flagdTargeting{c: c, flag: made.ID, evaluators: evaluators}
	targeting, err := t.logic(from.Targeting, 0, false)
	if err == nil {
		err = refusal(made, rule{Logic: flagdCondition(targeting), Value: made.Default})
	}
	if err != nil {
		c.lose("flag %s: its targeting is left out, because %v; everybody gets the variant %q.", made.ID, err, *from.Default)
		return nil
	}
	if object, is := targeting.(map[string]any); !is || len(object) == 0 {
		return nil
	}
	for _, result := range flagdResults(targeting) {
		if _, known := from.Variants[fmt.Sprint(result)]; !known && result != nil {
			c.lose("flag %s: its targeting results in %v, which is no variant; flagd then lets the code decide, here the variant %q is served.", made.ID, result, *from.Default)
		}
	}
	if branches, is := flagdBranches(targeting, from.Variants); is {
		return branches
	}
	for _, name := range slices.Sorted(maps.Keys(from.Variants)) {
		rules = append(rules, rule{Description: "Variant " + name, Logic: flagdResult(targeting, name), Value: from.Variants[name]})
	}
	return rules
}

// flagdResult returns a condition: the result of targeting is this variant. Other results are compared as texts.
func flagdResult(targeting any, name string) logic {
	if name == "true" || name == "false" {
		return apply("in", targeting, []any{name, name == "true"})
	}
	if parsed, err := number(name); err == nil {
		return apply("in", targeting, []any{name, parsed})
	}
	return apply("===", targeting, name)
}

// flagdResults returns the constant results of an if and of the ifs nested in it.
func flagdResults(targeting any) (results []any) {
	object, isObject := targeting.(map[string]any)
	if !isObject {
		if _, isList := targeting.([]any); isList {
			return nil
		}
		return []any{targeting}
	}
	branches, _ := object["if"].([]any)
	for i, each := range branches {
		if i%2 == 1 || i == len(branches)-1 {
			results = append(results, flagdResults(each)...)
		}
	}
	return results
}

// flagdBranches splits an if into rules: [condition, variant, condition, variant, …, variant].
func flagdBranches(targeting any, variants map[string]json.RawMessage) (rules []rule, is bool) {
	object, _ := targeting.(map[string]any)
	branches, is := object["if"].([]any)
	if !is || len(object) != 1 {
		return nil, false
	}
	for len(branches) > 0 {
		condition, result := logic(true), branches[0]
		if len(branches) > 1 {
			condition, result = flagdCondition(branches[0]), branches[1]
		}
		branches = branches[min(2, len(branches)):]
		if result == nil { // the flag's default
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

// flagdCondition returns a condition as the logic of a rule. Such logic must be an operation.
func flagdCondition(condition any) logic {
	if object, is := condition.(map[string]any); is && len(object) == 1 {
		return condition
	}
	if condition == logic(true) || condition == logic(false) {
		return condition
	}
	return apply("!!", condition)
}

// flagdTargeting translates the targeting of one flag.
type flagdTargeting struct {
	c          *collector
	flag       string
	evaluators map[string]any
}

// logic returns a rule with inlined shared evaluators and renamed variables. Top-level members of a context in flagd are
// attributes of the user in Signalbox. Variables inside a loop read an element, so they keep their names.
func (t flagdTargeting) logic(from any, depth int, inLoop bool) (any, error) {
	const deepest = 50
	if depth > deepest {
		return nil, fmt.Errorf("it is nested more than %d times, or refers to itself", deepest)
	}
	switch from := from.(type) {
	case []any:
		return translated(from, func(_ int, each any) (any, error) { return t.logic(each, depth+1, inLoop) })
	case map[string]any:
		return t.object(from, depth, inLoop)
	}
	return from, nil
}

func (t flagdTargeting) object(from map[string]any, depth int, inLoop bool) (any, error) {
	if name, is := from["$ref"].(string); is {
		shared, known := t.evaluators[name]
		if !known {
			return nil, fmt.Errorf("there is no evaluator %q", name)
		}
		return t.logic(shared, depth+1, inLoop)
	}
	if len(from) == 1 {
		for operator, arguments := range from {
			return t.operation(operator, arguments, depth, inLoop)
		}
	}
	made := map[string]any{}
	for name, member := range from {
		var err error
		if made[name], err = t.logic(member, depth+1, inLoop); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// operation translates operations that read variables or loop. All other operations stay the same.
func (t flagdTargeting) operation(operator string, arguments any, depth int, inLoop bool) (any, error) {
	list, isList := arguments.([]any)
	switch {
	case operator == "fractionalEvaluation":
		return t.oldFractional(list)
	case isList && len(list) > 1 && slices.Contains([]string{"map", "filter", "reduce", "all", "some", "none"}, operator):
		return t.loop(operator, list, depth, inLoop)
	}
	translated, err := t.logic(arguments, depth+1, inLoop)
	if err != nil {
		return nil, err
	}
	switch {
	case operator == "fractional" && inLoop:
		return nil, errors.New("it has a fractional inside of a loop")
	case operator == "fractional":
		t.c.splits[t.flag] = true
	case operator == "var" && !inLoop:
		translated, err = flagdVariable(translated)
	case (operator == "missing" || operator == "missing_some") && !inLoop:
		translated, err = flagdNames(translated)
	}
	return map[string]any{operator: translated}, err
}

// loop translates an operation that evaluates its second argument for every element of the first.
func (t flagdTargeting) loop(operator string, list []any, depth int, inLoop bool) (any, error) {
	made, err := translated(list, func(i int, each any) (any, error) { return t.logic(each, depth+1, inLoop || i == 1) })
	return map[string]any{operator: made}, err
}

// translated returns a list of the translated items.
func translated(list []any, translate func(place int, item any) (any, error)) (made []any, err error) {
	made = make([]any, len(list))
	for i, each := range list {
		if made[i], err = translate(i, each); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// oldFractional translates fractionalEvaluation, the older form of flagd: the name of an attribute, then the buckets.
func (t flagdTargeting) oldFractional(list []any) (any, error) {
	if len(list) == 0 {
		return nil, errors.New("its fractionalEvaluation is empty")
	}
	name, is := list[0].(string)
	if !is {
		return nil, errors.New("its fractionalEvaluation does not begin with the name of an attribute")
	}
	path, err := flagdVariable(name)
	if err != nil {
		return nil, err
	}
	t.c.respread("flag " + t.flag)
	by := map[string]any{"var": path}
	return apply("if", by, apply("fractional", slices.Concat([]any{by}, list[1:])...), nil), nil
}

// flagdNames renames the variables in the arguments of missing and missing_some.
func flagdNames(argument any) (any, error) {
	switch argument := argument.(type) {
	case string:
		return flagdVariable(argument)
	case json.Number: // the number of required variables in missing_some
		return argument, nil
	case []any:
		return translated(argument, func(_ int, each any) (any, error) { return flagdNames(each) })
	}
	return nil, errors.New("it computes the names of variables")
}

// flagdVariable renames a variable. The argument is the name, or a list of the name and a default.
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
		return nil, errors.New("rules cannot read the time")
	case name == "targetingKey":
		return userKey, nil
	case !is || name == "":
		return nil, errors.New("it reads the whole context, or computes the name of a variable")
	case strings.Contains(name, "."): // a member of an object; the object becomes a context type
		return argument, nil
	}
	return "user." + name, nil
}
