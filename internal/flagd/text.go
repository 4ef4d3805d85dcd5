package flagd

import (
	"errors"
	"math"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/signalbox/signalbox/client/jsonlogic"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// Go's implementation of cat removes white space at both ends of the result, so a result is put between two marks before it is
// compared.
const (
	openMark  = "["
	closeMark = "]"
)

// parts translates a text: the arguments of cat, or one part. A null is "".
func (t *translation) parts(value node) ([]node, error) {
	if isAttribute(value) {
		return []node{written(value)}, t.expect(value, aText)
	}
	operator, arguments, is := operation(value)
	switch {
	case operator == "cat":
		return t.catParts(arguments)
	case is:
		return nil, errors.New("it uses the result of " + operator + " as a text")
	}
	converted, err := t.evaluate(apply("cat", value))
	return []node{converted}, err
}

func (t *translation) catParts(arguments []node) (parts []node, err error) {
	for _, each := range arguments {
		more, err := t.parts(each)
		if err != nil {
			return nil, err
		}
		parts = append(parts, more...)
	}
	return merged(parts), nil
}

// merged joins neighboring constants and drops empty ones.
func merged(parts []node) (made []node) {
	for _, each := range parts {
		last := len(made) - 1
		switch {
		case isLiteral(each) && text(each) == "":
		case isLiteral(each) && last >= 0 && isLiteral(made[last]):
			made[last] = jsonlogic.String(text(made[last]) + text(each))
		default:
			made = append(made, each)
		}
	}
	return made
}

// marked returns a text between marks.
func marked(parts []node) node {
	all := merged(slices.Concat([]node{jsonlogic.String(openMark)}, parts, []node{jsonlogic.String(closeMark)}))
	if len(all) == 1 && isLiteral(all[0]) {
		return all[0]
	}
	return apply("cat", all...)
}

func (t *translation) notEmpty(rule node) (node, error) {
	parts, err := t.parts(rule)
	if err != nil {
		return node{}, err
	}
	return apply("!==", marked(parts), jsonlogic.String(openMark+closeMark)), nil
}

// equalTexts translates a comparison of two texts.
func (t *translation) equalTexts(a, b node, strict bool) (node, error) {
	for _, pair := range [][2]node{{a, b}, {b, a}} {
		if operator, arguments, _ := operation(pair[0]); operator == "substr" {
			return t.equalSubstring(arguments, pair[1])
		}
	}
	if isAttribute(a) && isLiteral(b) {
		if !strict && !rawjson.IsWord(text(b)) { // the server converts a number or a boolean
			return apply("===", written(a), b), t.expect(a, aText)
		}
		return apply("===", written(a), b), nil
	}
	left, err := t.parts(a)
	if err != nil {
		return node{}, err
	}
	right, err := t.parts(b)
	if err != nil {
		return node{}, err
	}
	return equalParts(left, right), nil
}

// equalParts compares two joined texts, without cat if a single attribute is left once the constants are removed.
func equalParts(left, right []node) node {
	left, right, possible := trimmed(left, right)
	switch {
	case !possible:
		return never()
	case len(left) == 0 && len(right) == 0:
		return always()
	case len(left) < 2 && len(right) < 2:
		return apply("===", single(left), single(right))
	}
	return apply("===", marked(left), marked(right))
}

// single returns the only part of a text, or "".
func single(parts []node) node {
	if len(parts) == 0 {
		return jsonlogic.String("")
	}
	return parts[0]
}

// trimmed removes constants at the ends of one text from a constant other text. It returns false if they differ.
func trimmed(left, right []node) (a, b []node, possible bool) {
	if len(left) == 1 && isLiteral(left[0]) {
		left, right = right, left
	}
	if len(right) != 1 || !isLiteral(right[0]) {
		return left, right, true
	}
	whole := text(right[0])
	if len(left) > 0 && isLiteral(left[0]) {
		rest, has := strings.CutPrefix(whole, text(left[0]))
		if !has {
			return nil, nil, false
		}
		whole, left = rest, left[1:]
	}
	if last := len(left) - 1; last >= 0 && isLiteral(left[last]) {
		rest, has := strings.CutSuffix(whole, text(left[last]))
		if !has {
			return nil, nil, false
		}
		whole, left = rest, left[:last]
	}
	if len(left) == 0 && whole != "" {
		return nil, nil, false
	}
	return left, []node{jsonlogic.String(whole)}, true
}

// equalSubstring translates a comparison of a substring at one end of an attribute with a constant. Implementations cut short
// texts differently, so that it becomes starts_with, ends_with or, for a constant that is shorter than the part, ===.
func (t *translation) equalSubstring(arguments []node, constant node) (node, error) {
	of := argument(arguments, 0)
	start, isStart := argument(arguments, 1).Float()
	size, limited := argument(arguments, 2).Float()
	operator, length := "starts_with", size
	if start < 0 && len(arguments) == 2 {
		operator, length, limited = "ends_with", -start, true
	}
	known := isAttribute(of) && isLiteral(constant) && constant.Kind() == jsonlogic.KindString && isStart && limited
	if !known || operator == "starts_with" && start != 0 || length < 0 || length != math.Trunc(length) {
		return node{}, errors.New("it uses substr for more than comparing one end of an attribute with a constant")
	}
	units := float64(len(utf16.Encode([]rune(text(constant)))))
	switch {
	case units > length:
		return never(), nil
	case units < length:
		return apply("===", written(of), constant), t.expect(of, aText)
	case units == 0:
		return always(), t.expect(of, aText)
	}
	return apply(operator, written(of), constant), t.expect(of, aText)
}

// affix translates starts_with and ends_with. Other arguments than two texts result in null.
func (t *translation) affix(operator string, arguments []node) (node, error) {
	if len(arguments) != 2 {
		return never(), nil
	}
	for _, each := range arguments {
		if isLiteral(each) && each.Kind() != jsonlogic.KindString {
			return never(), nil
		}
	}
	whole, err := t.parts(arguments[0])
	if err != nil {
		return node{}, err
	}
	part, err := t.parts(arguments[1])
	switch {
	case err != nil:
		return node{}, err
	case len(part) == 0 || len(part) == 1 && isLiteral(part[0]) && text(part[0]) == "":
		return always(), nil
	case len(part) > 1:
		return node{}, errors.New("it uses cat in an argument of starts_with or ends_with")
	case len(whole) < 2:
		return apply(operator, single(whole), part[0]), nil
	case !isLiteral(part[0]):
		return node{}, errors.New("it compares the beginning or the end of a joined text with an attribute")
	case operator == "starts_with":
		return apply(operator, marked(whole), jsonlogic.String(openMark+text(part[0]))), nil
	}
	return apply(operator, marked(whole), jsonlogic.String(text(part[0])+closeMark)), nil
}
