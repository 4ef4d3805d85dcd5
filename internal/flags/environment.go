package flags

import (
	"context"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/overrides"
)

// InEnvironment returns the managed flags of an account, sorted by key, each with
// the configuration of one environment only.
func InEnvironment(ctx context.Context, tx ReadTx, account, environment string) ([]Flag, error) {
	flags, err := tx.FlagsByKey(ctx, account, nil)
	if err != nil {
		return nil, err
	}
	flags = slices.DeleteFunc(flags, func(flag Flag) bool { return !flag.Managed })
	slices.SortFunc(flags, func(a, b Flag) int { return strings.Compare(a.Key, b.Key) })
	for i := range flags {
		flags[i].Environments = overrides.Only(flags[i].Environments, environment)
	}
	return flags, nil
}
