package flagd

import (
	"fmt"

	"github.com/signalbox/signalbox/client/jsonlogic"
)

// kind is the type of a value, as far as it is known.
type kind string

const (
	unknown  kind = ""
	aText    kind = "texts"
	aNumber  kind = "numbers"
	aBoolean kind = "true or false"
	aList    kind = "lists"
	other    kind = "objects" // null, a list or an object of a rule
)

// kindOf returns the kind of an argument.
func (t *translation) kindOf(value node) kind {
	if _, named, is := asAttribute(value); is {
		return t.kinds[named]
	}
	if operator, _, is := operation(value); is {
		switch operator {
		case "cat", "substr":
			return aText
		case "+", "-", "*", "/", "%", "max", "min":
			return aNumber
		}
		return other
	}
	switch value.Kind() {
	case jsonlogic.KindString:
		return aText
	case jsonlogic.KindNumber:
		return aNumber
	case jsonlogic.KindBool:
		return aBoolean
	}
	return other
}

// expect remembers that a rule compares an attribute with values of a kind. Another kind elsewhere in the flag is an error:
// the attribute then has the wrong type for one of the rules, and implementations convert it differently.
func (t *translation) expect(value node, wanted kind) error {
	_, named, is := asAttribute(value)
	if !is {
		return nil
	}
	if known := t.kinds[named]; known != unknown && known != wanted {
		return fmt.Errorf("it compares %q with %s and with %s", named, known, wanted)
	}
	t.kinds[named] = wanted
	return nil
}
