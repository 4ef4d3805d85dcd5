package configs

import (
	"maps"
	"slices"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// mergeEnvironments decides what a config stores per environment after a
// write. Overrides of environments that are not managed are frozen: a write
// may repeat them or leave them out, and they stay either way.
func (s *Service) mergeEnvironments(managed map[string]bool, before, wanted Config, problems *fault.Problems) map[string]Overrides {
	merged := map[string]Overrides{}
	for key, stored := range before.Environments {
		if !managed[key] {
			merged[key] = stored
		}
	}
	for _, key := range slices.Sorted(maps.Keys(wanted.Environments)) {
		overrides := wanted.Environments[key]
		if stored, frozen := merged[key]; frozen && repeats(overrides, stored) {
			continue
		}
		if err := s.Writable(managed, key); err != nil {
			note(problems, err, fault.Attribute("environments/"+escape(key)))
			continue
		}
		merged[key] = overrides
	}
	return merged
}

// repeats tells whether a write says nothing but what is stored.
func repeats(overrides, stored Overrides) bool {
	for key, value := range overrides {
		if was, has := stored[key]; !has || !rawjson.Same(was, value) {
			return false
		}
	}
	return true
}

// note adds a refusal to the problems, at its place.
func note(problems *fault.Problems, err error, place fault.Source) {
	for _, refusal := range fault.All(err) {
		problems.Add(refusal.At(place))
	}
}

// checkScope refuses a key that is restricted to environments and would change
// anything else.
func checkScope(caller accounts.Caller, before, after Config) error {
	if caller.Environments == nil {
		return nil
	}
	if !sameBase(before, after) {
		return caller.RequireUnscoped()
	}
	all := maps.Clone(before.Environments)
	maps.Copy(all, after.Environments)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if sameOverrides(before.Environments[key], after.Environments[key]) {
			continue
		}
		if err := caller.RequireEnvironment(key); err != nil {
			return err
		}
	}
	return nil
}
