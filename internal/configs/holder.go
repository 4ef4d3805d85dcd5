package configs

import (
	"context"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/overrides"
)

// CountValues counts the overrides of an environment in all configs.
func CountValues(ctx context.Context, tx ReadTx, account, environment string) (count int, err error) {
	configs, err := tx.ConfigsWithEnvironment(ctx, account, environment)
	for _, config := range configs {
		count += len(config.Environments[environment])
	}
	return count, err
}

// StripValues removes the overrides of a deleted environment.
func StripValues(ctx context.Context, tx Tx, caller accounts.Caller, environment string) error {
	found, err := tx.ConfigsWithEnvironment(ctx, caller.Account, environment)
	if err != nil {
		return err
	}
	touched := changes.Several{Cause: "environment:" + environment}
	after, edits := make([]Config, len(found)), make([]changes.Edit[Config], len(found))
	for i, config := range found {
		touched.Keys = append(touched.Keys, config.Key)
		after[i] = config
		after[i].Environments, after[i].UpdatedAt = overrides.Without(config.Environments, environment), tx.Now()
		edits[i] = changes.Edit[Config]{Key: config.Key, Before: &found[i], After: &after[i]}
	}
	if err := tx.SaveConfigs(ctx, after...); err != nil {
		return err
	}
	if err := changes.RecordEach(ctx, tx, caller.Account, caller.Actor(), changes.Cascaded, Kind, edits); err != nil {
		return err
	}
	return changes.RecordSeveral(ctx, tx, caller.Account, caller.Actor(), changes.Cascaded, Kind, touched)
}
