// Package overrides has the rules of values per environment: the values of an
// unmanaged environment are frozen, and a key that is restricted to environments
// may only change their values.
package overrides

import (
	"errors"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/internal/fault"
)

// Writable refuses to write a value for an environment that is unmanaged or
// does not exist. managed has every environment of the account.
type Writable func(managed map[string]bool, environment string) error

// MaxEntries is how many environments one write may have values for.
const MaxEntries = 2000

// CheckCount reports whether a write has values for at most MaxEntries
// environments. If not, it adds a problem.
func CheckCount(problems *fault.Problems, entries int) bool {
	if entries > MaxEntries {
		problems.Attribute("environments", "must have at most %d entries", MaxEntries)
	}
	return entries <= MaxEntries
}

// Merge returns the values of a resource after a full replace. Frozen values
// stay, whether the write repeats them or leaves them out. Adding or changing a
// frozen value is refused; the error has all such problems.
func Merge[V any](managed map[string]bool, stored, wanted map[string]V, same func(a, b V) bool, writable Writable) (map[string]V, error) {
	merged := map[string]V{}
	for environment, value := range stored {
		if !managed[environment] {
			merged[environment] = value
		}
	}
	var problems fault.Problems
	for _, environment := range slices.Sorted(maps.Keys(wanted)) {
		value := wanted[environment]
		if frozen, isFrozen := merged[environment]; isFrozen && same(frozen, value) {
			continue
		}
		err := writable(managed, environment)
		if refusal, refused := errors.AsType[*fault.Error](err); refused {
			problems.Add(refusal.At(fault.Attribute(Path(environment))))
			continue
		}
		if err != nil {
			return nil, err
		}
		merged[environment] = value
	}
	return merged, problems.Err()
}

// Changed returns the environments whose values differ, sorted.
func Changed[V any](before, after map[string]V, same func(a, b V) bool) []string {
	changed := map[string]bool{}
	for environment := range after {
		changed[environment] = true
	}
	for environment, was := range before {
		if is, has := after[environment]; has && same(was, is) {
			delete(changed, environment)
		} else {
			changed[environment] = true
		}
	}
	return slices.Sorted(maps.Keys(changed))
}

// Only returns the value of one environment, if it has one.
func Only[V any](values map[string]V, environment string) map[string]V {
	only := map[string]V{}
	if value, has := values[environment]; has {
		only[environment] = value
	}
	return only
}

// Without returns the values of all environments except one.
func Without[V any](values map[string]V, environment string) map[string]V {
	left := maps.Clone(values)
	delete(left, environment)
	return left
}

// Path returns the path of an environment's value below the attributes.
func Path(environment string) string { return "environments/" + fault.Escape(environment) }
