package configs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/signalbox/signalbox/internal/fault"
)

// maxViolations is how many violations of one value are reported.
const maxViolations = 20

// violations returns the violations in an error of the validator. It reports alternatives such as anyOf as one
// violation, because no single alternative is the problem.
func violations(err error) (found []violation) {
	broken, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return nil
	}
	var visit func(*jsonschema.ValidationError)
	visit = func(err *jsonschema.ValidationError) {
		switch err.ErrorKind.(type) {
		case *kind.AnyOf, *kind.OneOf, *kind.Not, *kind.Contains, *kind.MinContains, *kind.PropertyNames:
		default:
			for _, cause := range err.Causes {
				visit(cause)
			}
			if len(err.Causes) > 0 {
				return
			}
		}
		if len(found) < maxViolations {
			found = append(found, violation{pointer: pointerTo(err.InstanceLocation), detail: sentence(err)})
		}
	}
	visit(broken)
	slices.SortStableFunc(found, func(a, b violation) int { return strings.Compare(a.pointer, b.pointer) })
	return found
}

// sentence describes one error, without its causes.
func sentence(err *jsonschema.ValidationError) string {
	const enough = 300
	switch broken := err.ErrorKind.(type) { // the library would quote the whole value for these two
	case *kind.Pattern:
		return fmt.Sprintf("does not match the pattern %q", broken.Want)
	case *kind.Format:
		return fmt.Sprintf("is no valid %s: %v", broken.Want, broken.Err)
	}
	alone := *err
	alone.Causes = nil
	text := []rune(alone.BasicOutput().Error.String())
	if len(text) > enough {
		return string(text[:enough]) + "…"
	}
	return string(text)
}

func pointerTo(steps []string) string {
	var pointer strings.Builder
	for _, step := range steps {
		pointer.WriteString("/" + fault.Escape(step))
	}
	return pointer.String()
}
