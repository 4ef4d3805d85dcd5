package flags

import (
	"context"
	"slices"
	"strings"
)

// InEnvironment returns all flags of an account, sorted by key, each with what it
// has for one environment only.
func InEnvironment(ctx context.Context, tx ReadTx, account, environment string) ([]Flag, error) {
	flags, err := tx.FlagsByKey(ctx, account, nil)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(flags, func(a, b Flag) int { return strings.Compare(a.Key, b.Key) })
	for i := range flags {
		flags[i] = flags[i].only(environment)
	}
	return flags, nil
}

// only returns the flag with what it has for one environment.
func (f Flag) only(environment string) Flag {
	all := f.Environments
	f.Environments = map[string]Environment{}
	if configured, has := all[environment]; has {
		f.Environments[environment] = configured
	}
	return f
}
