package configs

import (
	"context"
	"maps"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
)

// CountValues counts the overrides that configs hold for an environment.
func CountValues(ctx context.Context, tx ReadTx, account, environment string) (overrides int, err error) {
	configs, err := tx.ConfigsWithEnvironment(ctx, account, environment)
	for _, config := range configs {
		overrides += len(config.Environments[environment])
	}
	return overrides, err
}

// StripValues removes the overrides for an environment that is deleted.
func StripValues(ctx context.Context, tx Tx, caller accounts.Caller, environment string) error {
	configs, err := tx.ConfigsWithEnvironment(ctx, caller.Account, environment)
	if err != nil {
		return err
	}
	touched := changes.Several{Cause: "environment:" + environment}
	for _, before := range configs {
		touched.Keys = append(touched.Keys, before.Key)
		after := before
		after.Environments = maps.Clone(before.Environments)
		delete(after.Environments, environment)
		after.UpdatedAt = tx.Now()
		if err := tx.SaveConfig(ctx, after); err != nil {
			return err
		}
		if err := changes.RecordAs(ctx, tx, caller.Account, caller.Actor(), changes.Cascaded, Kind, before.Key, &before, &after); err != nil {
			return err
		}
	}
	return changes.RecordSeveral(ctx, tx, caller.Account, caller.Actor(), changes.Cascaded, Kind, touched)
}
