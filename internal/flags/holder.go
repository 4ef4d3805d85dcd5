package flags

import (
	"context"
	"maps"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
)

// CountValues counts what flags hold for an environment.
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

// StripValues removes what flags hold for an environment that is deleted.
func StripValues(ctx context.Context, tx Tx, caller accounts.Caller, environment string) error {
	flags, err := tx.FlagsWithEnvironment(ctx, caller.Account, environment)
	if err != nil {
		return err
	}
	touched := changes.Several{Cause: "environment:" + environment}
	for _, before := range flags {
		touched.Keys = append(touched.Keys, before.Key)
		after := before
		after.Environments = maps.Clone(before.Environments)
		delete(after.Environments, environment)
		after.UpdatedAt = tx.Now()
		if err := tx.SaveFlag(ctx, after, references(after)); err != nil {
			return err
		}
		if err := changes.RecordAs(ctx, tx, caller.Account, caller.Actor(), changes.Cascaded, Kind, before.Key, &before, &after); err != nil {
			return err
		}
	}
	return changes.RecordSeveral(ctx, tx, caller.Account, caller.Actor(), changes.Cascaded, Kind, touched)
}
