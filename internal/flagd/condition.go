package flagd

import (
	"errors"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/client/jsonlogic"
)

// maxSteps bounds the work for one flag. Operations that read many attributes have many branches.
const maxSteps = 20_000

var errTooLarge = errors.New("its rules have too many branches")

// translation translates the rules of one flag.
type translation struct {
	key    string          // the flag's key
	kinds  map[string]kind // the types of values that rules compare each attribute with
	scoped bool            // inside a loop's body, where variables read an element
	splits bool            // a rule has a fractional
	steps  int
}

// condition translates a rule, or a part of a rule that is only tested for truth.
func (t *translation) condition(rule node) (node, error) {
	if t.steps++; t.steps > maxSteps {
		return node{}, errTooLarge
	}
	operator, arguments, is := operation(rule)
	if !is {
		return jsonlogic.Bool(rule.Truthy()), nil
	}
	switch operator {
	case "and":
		return t.junction(arguments, every, true)
	case "or":
		return t.junction(arguments, either, false)
	case "!":
		return t.negation(argument(arguments, 0))
	case "!!", "log":
		return t.condition(argument(arguments, 0))
	case "if", "?:":
		return t.branches(arguments)
	case "!=":
		return t.negation(apply("==", arguments...))
	case "!==":
		return t.negation(apply("===", arguments...))
	case "none":
		return t.negation(apply("some", arguments...))
	case "missing", "missing_some":
		return t.missing(operator, arguments)
	case "<", "<=":
		if len(arguments) > 2 {
			return t.condition(apply("and", apply(operator, arguments[:2]...), apply(operator, arguments[1:3]...)))
		}
	}
	return t.atom(rule)
}

// negation translates the opposite of a rule.
func (t *translation) negation(rule node) (node, error) {
	condition, err := t.condition(rule)
	if err != nil {
		return node{}, err
	}
	return not(condition), nil
}

// junction translates and, or. Arguments after one that decides are not translated.
func (t *translation) junction(arguments []node, combine func(...node) node, neutral bool) (node, error) {
	if len(arguments) == 0 {
		return never(), nil
	}
	var conditions []node
	for _, each := range arguments {
		condition, err := t.condition(each)
		if err != nil {
			return node{}, err
		}
		conditions = append(conditions, condition)
		if holds, constant := isConstant(condition); constant && holds != neutral {
			break
		}
	}
	return combine(conditions...), nil
}

// branches translates an if: conditions and results in turn, then an optional else.
func (t *translation) branches(arguments []node) (node, error) {
	if len(arguments) < 2 {
		return t.condition(argument(arguments, 0))
	}
	condition, err := t.condition(arguments[0])
	if err != nil {
		return node{}, err
	}
	holds, constant := isConstant(condition)
	if constant && !holds {
		return t.branches(arguments[2:])
	}
	then, err := t.condition(arguments[1])
	if err != nil || constant {
		return then, err
	}
	otherwise, err := t.branches(arguments[2:])
	if err != nil {
		return node{}, err
	}
	return choose(condition, then, otherwise), nil
}

// missing translates missing and missing_some, whose results are truthy if they list a name.
func (t *translation) missing(operator string, arguments []node) (node, error) {
	need, names := -1.0, arguments
	if operator == "missing_some" {
		need, _ = argument(arguments, 0).Float()
		names = argument(arguments, 1).Items()
	} else if list := argument(arguments, 0); list.Kind() == jsonlogic.KindArray {
		names = list.Items()
	}
	var absent []node
	for _, name := range names {
		if name.Kind() != jsonlogic.KindString {
			return node{}, errors.New("it computes the names of attributes that may be missing")
		}
		variable := read(text(name))
		absent = append(absent, apply("or", apply("===", variable, jsonlogic.Null()), apply("===", variable, jsonlogic.String(""))))
	}
	switch {
	case operator == "missing":
		return t.condition(apply("or", absent...))
	case need == 1 && len(absent) > 0:
		return t.condition(apply("and", absent...))
	}
	return node{}, errors.New("it asks with missing_some for another number of attributes than one")
}

// atom translates an operation that is not logical. It moves everything with more than one shape out of the arguments.
func (t *translation) atom(rule node) (node, error) {
	if t.steps++; t.steps > maxSteps {
		return node{}, errTooLarge
	}
	rule, err := t.fold(rule)
	if err != nil {
		return node{}, err
	}
	if isLiteral(rule) {
		return jsonlogic.Bool(rule.Truthy()), nil
	}
	part, found := movable(rule, true)
	if !found {
		return t.comparison(rule)
	}
	operator, arguments, _ := operation(part)
	with := func(value node) (node, error) { return t.atom(replace(rule, part, value)) }
	switch operator {
	case "var":
		return t.attribute(arguments, with)
	case "fractional":
		return t.fractional(arguments, with)
	case "log":
		return with(argument(arguments, 0))
	case "if", "?:":
		return t.moveIf(arguments, with)
	case "and", "or":
		return t.moveJunction(operator, arguments, with)
	}
	return t.moveTruth(part, with)
}

// isLogical reports whether an operation returns true or false. An operation that mayReturnNull returns null instead of false
// for arguments of other types.
func isLogical(operator string) bool {
	return slices.Contains([]string{"==", "===", "!=", "!==", "<", "<=", ">", ">=", "in", "!", "!!", "some", "all", "none", "starts_with", "ends_with", "sem_ver"}, operator)
}

// movable finds the first part of an operation that can have more than one shape. The operation itself can be that part,
// unless it returns a boolean and top is set.
func movable(in node, top bool) (found node, is bool) {
	if in.Kind() == jsonlogic.KindArray {
		return firstMovable(in.Items())
	}
	operator, arguments, is := operation(in)
	switch {
	case !is || operator == attributeOperator:
		return node{}, false
	case operator == "fractional" && len(arguments) > 0:
		if by, is := movable(arguments[0], false); is {
			return by, true
		}
		return in, true
	case slices.Contains([]string{"var", "if", "?:", "and", "or", "log"}, operator), isLogical(operator) && !top:
		return in, true
	case isLoop(operator):
		return movable(argument(arguments, 0), false)
	}
	return firstMovable(arguments)
}

func firstMovable(in []node) (found node, is bool) {
	for _, each := range in {
		if found, is = movable(each, false); is {
			return found, true
		}
	}
	return node{}, false
}

// moveIf translates an operation with an if among its arguments. with translates the operation with another value in its place.
func (t *translation) moveIf(arguments []node, with func(node) (node, error)) (node, error) {
	if len(arguments) < 2 {
		return with(argument(arguments, 0))
	}
	return t.either(arguments[0], func() (node, error) { return with(arguments[1]) }, func() (node, error) { return t.moveIf(arguments[2:], with) })
}

// moveJunction translates an operation with `and` or `or` among its arguments. The value of an `and` or an `or` is one of its
// arguments.
func (t *translation) moveJunction(operator string, arguments []node, with func(node) (node, error)) (node, error) {
	if len(arguments) < 2 {
		return with(argument(arguments, 0))
	}
	first := func() (node, error) { return with(arguments[0]) }
	rest := func() (node, error) { return t.moveJunction(operator, arguments[1:], with) }
	if operator == "or" {
		return t.either(arguments[0], first, rest)
	}
	return t.either(arguments[0], rest, first)
}

// mayReturnNull reports whether an operation that is not true may be null rather than false.
func mayReturnNull(operator string) bool {
	return slices.Contains([]string{"starts_with", "ends_with", "sem_ver"}, operator)
}

// moveTruth translates an operation with a condition among its arguments.
func (t *translation) moveTruth(condition node, with func(node) (node, error)) (node, error) {
	otherwise := func() (node, error) { return with(never()) }
	if operator, _, _ := operation(condition); mayReturnNull(operator) {
		otherwise = func() (node, error) { return falseOrNull(operator, with) }
	}
	return t.either(condition, func() (node, error) { return with(always()) }, otherwise)
}

// falseOrNull translates an operation with an argument that is false or null, if it makes no difference which.
func falseOrNull(operator string, with func(node) (node, error)) (node, error) {
	absent, err := with(jsonlogic.Null())
	if err != nil {
		return node{}, err
	}
	made, err := with(never())
	if err == nil && !same(made, absent) {
		err = fmt.Errorf("it tells false from null, which %s returns for what is no text or no version", operator)
	}
	return made, err
}

// either translates a choice between two operations that depends on a rule.
func (t *translation) either(rule node, then, otherwise func() (node, error)) (node, error) {
	condition, err := t.condition(rule)
	if err != nil {
		return node{}, err
	}
	if holds, constant := isConstant(condition); constant && holds {
		return then()
	} else if constant {
		return otherwise()
	}
	return pick(condition, then, otherwise)
}

// pick is choose for branches that are translated here.
func pick(condition node, then, otherwise func() (node, error)) (node, error) {
	a, err := then()
	if err != nil {
		return node{}, err
	}
	b, err := otherwise()
	if err != nil {
		return node{}, err
	}
	return choose(condition, a, b), nil
}
