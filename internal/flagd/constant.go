package flagd

import (
	"fmt"
	"math"
	"slices"

	"github.com/signalbox/signalbox/client/jsonlogic"
)

// evaluate returns the value of an operation that reads nothing from the context, as the server computes it.
func (t *translation) evaluate(constant node) (node, error) {
	rule, err := jsonlogic.Compile(constant.AppendJSON(nil), jsonlogic.FlagKey(t.key))
	if err != nil {
		return node{}, fmt.Errorf("a part of it has no value: %w", err)
	}
	value, err := rule.Evaluate(jsonlogic.Object())
	switch {
	case err != nil:
		return node{}, fmt.Errorf("a part of it has no value: %w", err)
	case value.Kind() == jsonlogic.KindUndefined:
		return jsonlogic.Null(), nil
	}
	return value, nil
}

// fold replaces each part of a rule that is the same for every context by its value.
func (t *translation) fold(in node) (node, error) {
	if in.Kind() == jsonlogic.KindArray {
		items, _, err := t.foldEach(in.Items())
		return jsonlogic.Array(items...), err
	}
	operator, arguments, is := operation(in)
	if !is {
		return in, nil
	}
	if operator == "var" && !t.scoped && len(arguments) > 0 && text(arguments[0]) == "$flagd.flagKey" {
		return jsonlogic.String(t.key), nil
	}
	if isLoop(operator) {
		return t.foldLoop(in, operator, arguments)
	}
	folded, constant, err := t.foldEach(arguments)
	if err != nil || !constant || readsContext(operator, folded) {
		return apply(operator, folded...), err
	}
	made := apply(operator, folded...)
	value, err := t.evaluate(made)
	if float, is := value.Float(); is && (math.IsNaN(float) || math.IsInf(float, 0)) {
		return made, err // JSON has no such number
	}
	return value, err
}

// foldLoop folds the list of a loop. If the list is constant, so is the result: the body sees only the elements.
func (t *translation) foldLoop(loop node, operator string, arguments []node) (node, error) {
	list, err := t.fold(argument(arguments, 0))
	if err != nil {
		return node{}, err
	}
	if isLiteral(list) && (operator != "reduce" || len(arguments) < 3 || isLiteral(arguments[2])) {
		return t.evaluate(loop)
	}
	return apply(operator, append([]node{list}, arguments[min(1, len(arguments)):]...)...), nil
}

func (t *translation) foldEach(in []node) (folded []node, constant bool, err error) {
	folded, constant = make([]node, len(in)), true
	for i, each := range in {
		if folded[i], err = t.fold(each); err != nil {
			return nil, false, err
		}
		constant = constant && isLiteral(folded[i])
	}
	return folded, constant, nil
}

// isLiteral reports whether a node is a value: a scalar, a list of values, or an object that is no operation.
func isLiteral(value node) bool {
	if value.Kind() == jsonlogic.KindArray {
		return !slices.ContainsFunc(value.Items(), func(each node) bool { return !isLiteral(each) })
	}
	_, _, is := operation(value)
	return !is
}

// readsContext reports whether an operation reads the context, although its arguments are constant.
func readsContext(operator string, arguments []node) bool {
	switch operator {
	case "var", "missing", "missing_some", attributeOperator:
		return true
	case "fractional":
		return argument(arguments, 0).Kind() != jsonlogic.KindString
	}
	return false
}

// text returns a text, or "" for any other value.
func text(value node) string {
	found, _ := value.Text()
	return found
}
