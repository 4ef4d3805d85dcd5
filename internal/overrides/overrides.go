// Package overrides holds what every product does with the values it keeps per
// environment: values of environments that are not managed are frozen, and a
// key that is restricted to environments may change the values of those only.
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

// MaxEntries is how many environments one write may have values for: as many
// as an account may have.
const MaxEntries = 2000

// CheckCount notes that a write has values for too many environments. It tells
// whether the entries are worth looking at.
func CheckCount(problems *fault.Problems, entries int) bool {
	if entries > MaxEntries {
		problems.Attribute("environments", "must have at most %d entries", MaxEntries)
	}
	return entries <= MaxEntries
}

// Merge decides what a resource stores per environment after a full replace.
// Frozen values stay, whether the write repeats them or leaves them out; to add
// or change one is refused, with all such problems at once.
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

// Changed lists the environments whose values differ, in order.
func Changed[V any](before, after map[string]V, same func(a, b V) bool) []string {
	var changed []string
	for environment, was := range before {
		if is, has := after[environment]; !has || !same(was, is) {
			changed = append(changed, environment)
		}
	}
	for environment := range after {
		if _, had := before[environment]; !had {
			changed = append(changed, environment)
		}
	}
	slices.Sort(changed)
	return changed
}

// Path is where an environment's value stands below the attributes.
func Path(environment string) string {
	return "environments/" + fault.Escape(environment)
}
