package flagd

import (
	"errors"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/client/jsonlogic"
)

// version translates sem_ver. Its versions are attributes, or constants with three numbers, as flagd's schema requires.
func (t *translation) version(arguments []node) (node, error) {
	if len(arguments) != 3 {
		return never(), nil
	}
	operators := []string{"=", "!=", "<", "<=", ">", ">=", "^", "~"}
	if !slices.Contains(operators, text(arguments[1])) {
		return never(), nil
	}
	var versions [2]node
	for i, each := range []node{arguments[0], arguments[2]} {
		switch {
		case isAttribute(each):
			if err := t.expect(each, aText); err != nil {
				return node{}, err
			}
			versions[i] = written(each)
		case isLiteral(each):
			whole, valid := t.fullVersion(each)
			if !valid {
				return never(), nil
			}
			versions[i] = jsonlogic.String(whole)
		default:
			return node{}, errors.New("it computes a version")
		}
	}
	return apply("sem_ver", versions[0], arguments[1], versions[1]), nil
}

// fullVersion returns a constant version with three numbers and without a v.
func (t *translation) fullVersion(constant node) (whole string, valid bool) {
	equal, err := t.evaluate(apply("sem_ver", constant, jsonlogic.String("="), constant))
	if err != nil || !equal.Truthy() {
		return "", false
	}
	whole = strings.TrimPrefix(strings.TrimPrefix(text(constant), "v"), "V")
	end := strings.IndexAny(whole, "-+")
	if end < 0 {
		end = len(whole)
	}
	return whole[:end] + strings.Repeat(".0", max(0, 2-strings.Count(whole[:end], "."))) + whole[end:], true
}
