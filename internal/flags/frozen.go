package flags

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
)

// mergeEnvironments decides what a flag stores per environment after a write.
// Values of environments that are not managed are frozen: a write may repeat
// them or leave them out, and they stay either way.
func (s *Service) mergeEnvironments(ctx context.Context, tx Tx, before, wanted Flag) (map[string]Environment, error) {
	managed, err := tx.ManagedEnvironments(ctx, wanted.accountOr(before))
	if err != nil {
		return nil, err
	}
	merged := map[string]Environment{}
	for key, stored := range before.Environments {
		if !managed[key] {
			merged[key] = stored
		}
	}
	var problems fault.Problems
	for _, key := range slices.Sorted(maps.Keys(wanted.Environments)) {
		environment := wanted.Environments[key]
		stored, frozen := merged[key]
		if frozen && sameEnvironment(stored, environment) {
			continue
		}
		err := s.Writable(managed, key)
		if refusal, ok := errors.AsType[*fault.Error](err); ok {
			problems.Add(refusal.At(fault.Attribute("environments/" + escape(key))))
		} else if err != nil {
			return nil, err
		}
		merged[key] = environment
	}
	return merged, problems.Err()
}

func (f Flag) accountOr(other Flag) string {
	if f.Account != "" {
		return f.Account
	}
	return other.Account
}

func sameEnvironment(a, b Environment) bool {
	return a.Enabled == b.Enabled && sameJSON(a.Default, b.Default) &&
		slices.EqualFunc(a.Rules, b.Rules, func(a, b Rule) bool {
			return a.Description == b.Description && sameJSON(a.Logic, b.Logic) && sameJSON(a.Value, b.Value)
		})
}

// checkScope refuses a key that is restricted to environments and would change
// anything else.
func checkScope(caller accounts.Caller, before, after Flag) error {
	if caller.Environments == nil {
		return nil
	}
	if !sameBase(before, after) {
		return caller.RequireUnscoped()
	}
	for _, key := range slices.Sorted(maps.Keys(union(before.Environments, after.Environments))) {
		was, had := before.Environments[key]
		is, has := after.Environments[key]
		if had == has && sameEnvironment(was, is) {
			continue
		}
		if err := caller.RequireEnvironment(key); err != nil {
			return err
		}
	}
	return nil
}

func union(a, b map[string]Environment) map[string]Environment {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]Environment{}
	}
	maps.Copy(all, b)
	return all
}

// sameBase tells whether two flags differ at most in their environments.
func sameBase(a, b Flag) bool {
	return a.Name == b.Name && a.Type == b.Type && a.Managed == b.Managed && sameJSON(a.Default, b.Default) &&
		(a.Description == nil) == (b.Description == nil) && (a.Description == nil || *a.Description == *b.Description) &&
		slices.EqualFunc(a.Values, b.Values, func(a, b Choice) bool { return a.Name == b.Name && sameJSON(a.Value, b.Value) })
}
