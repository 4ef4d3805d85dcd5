package flagd

import (
	"slices"

	"github.com/signalbox/signalbox/client/jsonlogic"
)

// node is a rule, or a part of one. An object with one member is an operation. A condition that is the same for every
// context is a boolean.
type node = jsonlogic.Value

// operation returns the operator and the arguments of an operation. A single argument needs no list.
func operation(of node) (operator string, arguments []node, is bool) {
	members := of.Members()
	if len(members) != 1 {
		return "", nil, false
	}
	if members[0].Value.Kind() == jsonlogic.KindArray {
		return members[0].Key, members[0].Value.Items(), true
	}
	return members[0].Key, []node{members[0].Value}, true
}

// argument returns the argument at a place, or null.
func argument(arguments []node, place int) node {
	if place < len(arguments) {
		return arguments[place]
	}
	return jsonlogic.Null()
}

// apply returns an operation.
func apply(operator string, arguments ...node) node {
	return jsonlogic.Object(jsonlogic.Member{Key: operator, Value: jsonlogic.Array(arguments...)})
}

// read returns the operation that reads a variable.
func read(path string) node {
	return jsonlogic.Object(jsonlogic.Member{Key: "var", Value: jsonlogic.String(path)})
}

// hasValue returns a condition: a variable is not null.
func hasValue(path string) node { return apply("!==", read(path), jsonlogic.Null()) }

// isTruthy returns a condition: a value is truthy. The value may be a list, of which the operators ! and !! of some implementations
// take the first element.
func isTruthy(value node) node { return apply("if", value, always(), never()) }

func always() node { return jsonlogic.Bool(true) }
func never() node  { return jsonlogic.Bool(false) }

// isConstant reports whether a condition is the same for every context.
func isConstant(condition node) (holds, constant bool) {
	return condition.Truthy(), condition.Kind() == jsonlogic.KindBool
}

// same reports whether two nodes have the same text.
func same(a, b node) bool {
	return a.Kind() == b.Kind() && string(a.AppendJSON(nil)) == string(b.AppendJSON(nil))
}

// not returns the opposite of a condition.
func not(condition node) node {
	if holds, constant := isConstant(condition); constant {
		return jsonlogic.Bool(!holds)
	}
	operator, arguments, _ := operation(condition)
	switch operator {
	case "!":
		return arguments[0]
	case "===":
		return apply("!==", arguments...)
	case "!==":
		return apply("===", arguments...)
	case "if":
		if len(arguments) == 3 && same(arguments[1], not(arguments[2])) {
			return apply("if", arguments[0], arguments[2], arguments[1])
		}
	}
	return apply("!", condition)
}

// every joins conditions with and; either joins them with or.
func every(conditions ...node) node  { return join("and", conditions, true) }
func either(conditions ...node) node { return join("or", conditions, false) }

// join joins conditions. It drops conditions that equal neutral; if one equals the opposite, that is the
// result.
func join(operator string, conditions []node, neutral bool) node {
	var joined []node
	for _, condition := range conditions {
		holds, constant := isConstant(condition)
		inner, arguments, _ := operation(condition)
		switch {
		case constant && holds != neutral:
			return condition
		case constant:
		case inner == operator:
			joined = append(joined, arguments...)
		default:
			joined = append(joined, condition)
		}
	}
	switch len(joined) {
	case 0:
		return jsonlogic.Bool(neutral)
	case 1:
		return joined[0]
	}
	return apply(operator, joined...)
}

// choose returns an if with two conditions as its branches. Only the truth of a branch counts, so a constant branch turns the
// if into an and or an or.
func choose(condition, then, otherwise node) node {
	thenHolds, thenConstant := isConstant(then)
	otherHolds, otherConstant := isConstant(otherwise)
	holds, constant := isConstant(condition)
	switch {
	case constant && holds, same(then, otherwise):
		return then
	case constant:
		return otherwise
	case thenConstant && thenHolds:
		return either(condition, otherwise)
	case thenConstant:
		return every(not(condition), otherwise)
	case otherConstant && otherHolds:
		return either(not(condition), then)
	case otherConstant:
		return every(condition, then)
	}
	branches := []node{condition, then}
	if operator, inner, _ := operation(otherwise); operator == "if" && len(inner)%2 == 1 {
		return apply("if", slices.Concat(branches, inner)...)
	}
	return apply("if", append(branches, otherwise)...)
}

// replace returns a node in which every occurrence of a part is another node.
func replace(in, part, by node) node {
	if same(in, part) {
		return by
	}
	if in.Kind() == jsonlogic.KindArray {
		return jsonlogic.Array(replaceEach(in.Items(), part, by)...)
	}
	operator, arguments, is := operation(in)
	switch {
	case !is || operator == attributeOperator:
		return in
	case isLoop(operator): // the body has variables of its own
		return apply(operator, append([]node{replace(argument(arguments, 0), part, by)}, arguments[min(1, len(arguments)):]...)...)
	}
	return apply(operator, replaceEach(arguments, part, by)...)
}

func replaceEach(in []node, part, by node) []node {
	made := make([]node, len(in))
	for i, each := range in {
		made[i] = replace(each, part, by)
	}
	return made
}

// isLoop reports whether an operation evaluates its second argument for every element of the first.
func isLoop(operator string) bool {
	return slices.Contains([]string{"some", "all", "none", "map", "filter", "reduce"}, operator)
}
