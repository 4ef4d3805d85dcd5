package flagd

import (
	"errors"
	"fmt"
	"math"

	"github.com/signalbox/signalbox/client/jsonlogic"
)

// comparison translates an operation whose arguments are values, attributes that have a value, numbers and texts made from
// them.
func (t *translation) comparison(rule node) (node, error) {
	operator, arguments, _ := operation(rule)
	a, b := argument(arguments, 0), argument(arguments, 1)
	switch operator {
	case attributeOperator:
		return isTruthy(written(rule)), nil
	case "==", "===":
		return t.equal(a, b, operator == "===")
	case "<", "<=", ">", ">=":
		return t.ordered(operator, a, b)
	case "in":
		return t.contains(a, b)
	case "some", "all":
		return t.quantified(operator, a, b)
	case "starts_with", "ends_with":
		return t.affix(operator, arguments)
	case "sem_ver":
		return t.version(arguments)
	case "cat":
		return t.notEmpty(rule)
	case "+", "-", "*", "/", "%", "max", "min":
		return t.notZero(rule)
	}
	return node{}, fmt.Errorf("it uses %s in a way that providers evaluate differently", operator)
}

// written returns the argument that a provider gets for an attribute or a value.
func written(value node) node {
	if path, _, is := asAttribute(value); is {
		return read(path)
	}
	return value
}

func isAttribute(value node) bool {
	_, _, is := asAttribute(value)
	return is
}

// equal translates == and ===.
func (t *translation) equal(a, b node, strict bool) (node, error) {
	if isAttribute(b) && !isAttribute(a) {
		a, b = b, a
	}
	if a.Kind() == jsonlogic.KindNull || b.Kind() == jsonlogic.KindNull {
		return never(), nil // the other one has a value
	}
	switch left, right := t.kindOf(a), t.kindOf(b); {
	case left == aNumber && right == aNumber, isAttribute(a) && right == aNumber:
		return t.ordered("===", a, b)
	case isAttribute(a) && isAttribute(b):
		return t.equalAttributes(a, b, left, right)
	case right == aText && (left == aText || isAttribute(a)):
		return t.equalTexts(a, b, strict)
	case right == aBoolean && isAttribute(a):
		return apply("===", written(a), b), t.expect(a, aBoolean)
	case strict && isLiteral(b) && right != left && left != unknown && right != other:
		return never(), nil
	}
	return node{}, errors.New("it compares values of different types")
}

func (t *translation) equalAttributes(a, b node, left, right kind) (node, error) {
	if left == unknown {
		left = right
	}
	if left != unknown {
		if err := errors.Join(t.expect(a, left), t.expect(b, left)); err != nil {
			return node{}, err
		}
	}
	return apply("===", written(a), written(b)), nil
}

// ordered translates a comparison of numbers. Java's implementation compares only numbers.
func (t *translation) ordered(operator string, a, b node) (node, error) {
	left, err := t.number(a)
	if err != nil {
		return node{}, err
	}
	right, err := t.number(b)
	switch {
	case err != nil:
		return node{}, err
	case left.isNaN || right.isNaN:
		return never(), nil
	}
	return apply(operator, left.node, right.node), nil
}

func (t *translation) notZero(rule node) (node, error) {
	value, err := t.number(rule)
	if err != nil || value.isNaN {
		return never(), err
	}
	return apply("!==", value.node, jsonlogic.Number(0)), nil
}

// number is a translated number. In JavaScript a number may be NaN, which no comparison matches.
type number struct {
	node
	isNaN bool
}

// number translates an argument that is used as a number.
func (t *translation) number(value node) (number, error) {
	if isAttribute(value) {
		return number{node: written(value)}, t.expect(value, aNumber)
	}
	operator, arguments, is := operation(value)
	switch {
	case is:
		return t.calculation(operator, arguments)
	case value.Kind() == jsonlogic.KindString, value.Kind() >= jsonlogic.KindArray:
		return number{}, errors.New("it compares or calculates with something that is no number")
	}
	converted, err := t.evaluate(apply("-", value, jsonlogic.Number(0)))
	if err != nil {
		return number{}, err
	}
	return literalNumber(converted)
}

// maxInteger is the smallest integer that a double may round to another one.
const maxInteger = 1 << 53

func literalNumber(value node) (number, error) {
	float, _ := value.Float()
	switch {
	case math.IsNaN(float):
		return number{isNaN: true}, nil
	case math.Abs(float) >= maxInteger:
		return number{}, errors.New("it has a number that not every provider can represent")
	}
	return number{node: value}, nil
}

// calculation translates arithmetic.
func (t *translation) calculation(operator string, arguments []node) (number, error) {
	operands := make([]number, len(arguments))
	for i, each := range arguments {
		var err error
		if operands[i], err = t.operand(operator, each); err != nil {
			return number{}, err
		}
	}
	count := len(operands)
	for _, each := range operands {
		if each.isNaN {
			return each, nil
		}
	}
	switch {
	case operator == "-" && count == 1:
		return number{node: apply("-", jsonlogic.Number(0), operands[0].node)}, nil
	case (operator == "+" || operator == "*" || operator == "max" || operator == "min") && count == 1:
		return operands[0], nil
	case (operator == "/" || operator == "%") && count == 2:
		return divided(operator, operands[0].node, operands[1].node)
	case operator == "/" || operator == "%" || operator == "-" && count != 2 || count == 0:
		return number{}, fmt.Errorf("it uses %s with %d arguments", operator, count)
	}
	nodes := make([]node, count)
	for i, each := range operands {
		nodes[i] = each.node
	}
	return number{node: apply(operator, nodes...)}, nil
}

// operand translates an argument of arithmetic. The operators + and * read numbers as parseFloat does, so that null is NaN.
func (t *translation) operand(operator string, value node) (number, error) {
	if isLiteral(value) && (operator == "+" || operator == "*") && value.Kind() != jsonlogic.KindNumber {
		converted, err := t.evaluate(apply("+", value))
		if err != nil {
			return number{}, err
		}
		return literalNumber(converted)
	}
	return t.number(value)
}

// divided translates a division by a constant. Python's remainder has the sign of the divisor, so that the remainder of a
// negative number is that of its opposite.
func divided(operator string, a, b node) (number, error) {
	divisor, constant := b.Float()
	if !constant || divisor == 0 {
		return number{}, errors.New("it divides by something that is no constant, or by 0")
	}
	if operator == "/" {
		return number{node: apply("/", a, b)}, nil
	}
	zero, size := jsonlogic.Number(0), jsonlogic.Number(math.Abs(divisor))
	negative := apply("-", zero, apply("%", apply("-", zero, a), size))
	return number{node: apply("if", apply("<", a, zero), negative, apply("%", a, size))}, nil
}
