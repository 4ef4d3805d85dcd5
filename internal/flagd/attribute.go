package flagd

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/client/jsonlogic"
)

// attributeOperator marks an attribute that is known to have a value: the path that a provider reads, and the path that the
// rule names. Rules cannot have it, because no such operator exists.
const attributeOperator = "signalbox.attribute"

func attributeNode(path, named string) node {
	return apply(attributeOperator, jsonlogic.String(path), jsonlogic.String(named))
}

// asAttribute returns the paths of an attribute that has a value.
func asAttribute(of node) (path, named string, is bool) {
	operator, arguments, _ := operation(of)
	if operator != attributeOperator {
		return "", "", false
	}
	return text(arguments[0]), text(arguments[1]), true
}

// attribute translates an operation that reads a variable: once for each place of the variable in a context, and once
// without it.
func (t *translation) attribute(arguments []node, with func(node) (node, error)) (node, error) {
	name := argument(arguments, 0)
	if name.Kind() != jsonlogic.KindString && name.Kind() != jsonlogic.KindNull {
		return node{}, errors.New("it computes the name of an attribute")
	}
	paths, err := t.places(text(name))
	if err != nil {
		return node{}, err
	}
	result, err := with(argument(arguments, 1))
	if err != nil {
		return node{}, err
	}
	for _, path := range slices.Backward(paths) {
		given, err := with(attributeNode(path, t.named(text(name))))
		if err != nil {
			return node{}, err
		}
		result = ifGiven(path, given, result)
	}
	return result, nil
}

// ifGiven returns the condition given for contexts in which a variable has a value, and the condition absent for all others. A
// strict comparison with a value is false for a variable without one, so it needs no check.
func ifGiven(path string, given, absent node) node {
	operator, arguments, _ := operation(given)
	holds, constant := isConstant(absent)
	if operator == "===" && constant && !holds && same(arguments[0], read(path)) && isLiteral(arguments[1]) {
		return given
	}
	return choose(hasValue(path), given, absent)
}

// named returns the name under which the kind of a variable is remembered.
func (t *translation) named(path string) string {
	if t.scoped {
		return "an element"
	}
	return path
}

// The context members that are not attributes of a context type.
const (
	targetingKey = "targetingKey"
	userType     = "user"
	userKey      = "user.key"
)

// places returns where a context of a provider may have a variable; the first place with a value counts. The server reads the
// same contexts over OFREP: members that are no objects become attributes of user.
func (t *translation) places(path string) ([]string, error) {
	if t.scoped {
		if path != "" {
			return nil, errors.New("it reads a member of an element of a list")
		}
		return []string{""}, nil
	}
	segments := strings.Split(path, ".")
	switch {
	case path == targetingKey:
		return []string{path}, nil
	case path == userKey:
		return []string{userKey, "key", targetingKey}, nil
	case segments[0] == "$flagd":
		return nil, nil // the server has nothing there but the flag's key
	case path == "" || slices.Contains(segments, ""):
		return nil, fmt.Errorf("it reads %q, which is no attribute", path)
	case len(segments) == 1:
		return nil, fmt.Errorf("it reads %q, which is a context type, not an attribute", path)
	case segments[len(segments)-1] == "length":
		return nil, errors.New("it reads the length of an attribute")
	case segments[0] == userType && segments[1] != targetingKey && segments[1] != userType && (len(segments) == 2 || isIndex(segments[2])):
		return []string{path, strings.Join(segments[1:], ".")}, nil
	}
	return []string{path}, nil
}

// isIndex reports whether a part of a path is the place of an element. Only lists can be outside of user.
func isIndex(segment string) bool {
	_, err := strconv.ParseUint(segment, 10, 31)
	return err == nil
}
