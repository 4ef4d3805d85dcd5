package flags

import (
	"context"
	"slices"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/overrides"
)

// CountValues counts the rules and defaults of all flags for an environment.
func CountValues(ctx context.Context, tx ReadTx, account, environment string) (rules, defaults int, err error) {
	flags, err := tx.FlagsWithEnvironment(ctx, account, environment)
	if err != nil {
		return 0, 0, err
	}
	for _, flag := range flags {
		values := flag.Environments[environment]
		rules += len(values.Rules)
		if values.Default != nil {
			defaults++
		}
	}
	return rules, defaults, nil
}

// stripPortion is how many flags are written at once, to bound the memory.
const stripPortion = 500

// StripValues removes the configuration of a deleted environment from all flags.
func StripValues(ctx context.Context, tx Tx, caller accounts.Caller, environment string) error {
	found, err := tx.FlagsWithEnvironment(ctx, caller.Account, environment)
	if err != nil {
		return err
	}
	touched := changes.Several{Cause: "environment:" + environment}
	for part := range slices.Chunk(found, stripPortion) {
		if err := strip(ctx, tx, caller, environment, part); err != nil {
			return err
		}
		for _, flag := range part {
			touched.Keys = append(touched.Keys, flag.Key)
		}
	}
	return changes.RecordSeveral(ctx, tx, caller.Account, caller.Actor(), changes.Cascaded, Kind, touched)
}

func strip(ctx context.Context, tx Tx, caller accounts.Caller, environment string, before []Flag) error {
	after, edits := make([]Flag, len(before)), make([]changes.Edit[Flag], len(before))
	referred := map[string][]Reference{}
	for i, flag := range before {
		after[i] = flag
		after[i].Environments, after[i].UpdatedAt = overrides.Without(flag.Environments, environment), tx.Now()
		edits[i] = changes.Edit[Flag]{Key: flag.Key, Before: &before[i], After: &after[i]}
		if len(flag.Environments[environment].Rules) > 0 { // otherwise the references stay the same
			referred[flag.Key] = references(after[i])
		}
	}
	if err := tx.SaveFlags(ctx, after); err != nil {
		return err
	}
	if err := tx.SetFlagReferences(ctx, caller.Account, referred); err != nil {
		return err
	}
	return changes.RecordEach(ctx, tx, caller.Account, caller.Actor(), changes.Cascaded, Kind, edits)
}
