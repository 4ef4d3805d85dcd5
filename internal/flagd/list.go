package flagd

import (
	"errors"
	"strings"

	"github.com/signalbox/signalbox/client/jsonlogic"
)

// contains translates in.
func (t *translation) contains(needle, haystack node) (node, error) {
	switch {
	case haystack.Kind() == jsonlogic.KindArray:
		return t.oneOf(needle, haystack.Items())
	case isAttribute(haystack):
		return t.inAttribute(needle, haystack)
	case t.kindOf(haystack) == aText:
		return t.inText(needle, haystack)
	}
	return never(), nil
}

// oneOf translates in for a list of the rule. Implementations agree on a list of texts in which a text is searched. Any other
// list becomes comparisons.
func (t *translation) oneOf(needle node, list []node) (node, error) {
	var texts, conditions []node
	seen := map[kind]bool{}
	for _, each := range list {
		of := t.kindOf(each)
		seen[of] = true
		switch {
		case each.Kind() == jsonlogic.KindNull:
			continue // the value that is searched is not null
		case isLiteral(each) && of == aText && isAttribute(needle):
			texts = append(texts, each)
			continue
		}
		condition, err := t.member(needle, each)
		if err != nil {
			return node{}, err
		}
		conditions = append(conditions, condition)
	}
	switch {
	case seen[aBoolean] && seen[aNumber]: // Python takes 1 for true
		return node{}, errors.New("it searches a list of both numbers and booleans")
	case len(texts) > 1 && len(conditions) == 0:
		return apply("in", written(needle), jsonlogic.Array(texts...)), t.expect(needle, aText)
	}
	for _, each := range texts {
		conditions = append(conditions, apply("===", written(needle), each))
	}
	return either(conditions...), nil
}

// member translates the comparison with an element of a list that may have several types. Its kinds are not remembered for the
// attribute, which may have each of them.
func (t *translation) member(needle, element node) (node, error) {
	if !isLiteral(element) || !isAttribute(needle) {
		return t.equal(needle, element, true)
	}
	if element.Kind() >= jsonlogic.KindArray {
		return never(), nil
	}
	if _, err := literalNumber(element); err != nil {
		return node{}, err
	}
	return apply("===", written(needle), element), nil
}

// inAttribute translates in for an attribute that is a list, or a text that may contain another text.
func (t *translation) inAttribute(needle, haystack node) (node, error) {
	switch of := t.kindOf(needle); {
	case isLiteral(needle) && of == aText && text(needle) != "":
		return apply("in", needle, written(haystack)), nil
	case isLiteral(needle) && (of == aNumber || of == aBoolean):
		equal := apply("===", read(""), needle)
		return apply("some", written(haystack), equal), t.expect(haystack, aList)
	case isAttribute(needle) && (of == aText || of == unknown):
		// The text "" is in every text but the empty one.
		return every(isTruthy(written(haystack)), apply("in", written(needle), written(haystack))), t.expect(needle, aText)
	}
	return node{}, errors.New("it searches an attribute for something that is neither a text nor a constant")
}

// inText translates in for a text: a constant, or one that cat joins.
func (t *translation) inText(needle, haystack node) (node, error) {
	parts, err := t.parts(haystack)
	if err != nil {
		return node{}, err
	}
	if len(parts) == 1 && isLiteral(parts[0]) && isAttribute(needle) {
		return apply("in", written(needle), parts[0]), t.expect(needle, aText)
	}
	if !isLiteral(needle) || text(needle) == "" || strings.ContainsAny(text(needle), openMark+closeMark) {
		return node{}, errors.New("it searches a joined text for something that is no constant text")
	}
	return apply("in", needle, marked(parts)), nil
}

// quantified translates some and all of an attribute. Go's implementation puts attributes of the context into the body, so a
// body reads only the element itself.
func (t *translation) quantified(operator string, list, body node) (node, error) {
	if !isAttribute(list) {
		return node{}, errors.New("it asks " + operator + " of something that is no attribute")
	}
	if err := t.expect(list, aList); err != nil {
		return node{}, err
	}
	_, named, _ := asAttribute(list)
	inner := &translation{key: t.key, kinds: map[string]kind{}, scoped: true, steps: t.steps}
	if known, is := t.kinds["elements of "+named]; is {
		inner.kinds[inner.named("")] = known
	}
	condition, err := inner.condition(body)
	if err != nil {
		return node{}, err
	}
	t.steps, t.kinds["elements of "+named] = inner.steps, inner.kinds[inner.named("")]
	hasElements := isTruthy(written(list))
	switch holds, constant := isConstant(condition); {
	case constant && holds:
		return hasElements, nil
	case constant:
		return never(), nil
	case operator == "all":
		return every(hasElements, apply("all", written(list), condition)), nil
	}
	return apply("some", written(list), condition), nil
}
