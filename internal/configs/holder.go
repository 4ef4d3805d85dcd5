package configs

import (
	"context"
	"maps"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
)

// CountValues counts the overrides of an environment in all configs.
func CountValues(ctx context.Context, tx ReadTx, account, environment string) (overrides int, err error) {
	configs, err := tx.ConfigsWithEnvironment(ctx, account, environment)
	for _, config := range configs {
		overrides += len(config.Environments[environment])
	}
	return overrides, err
}

// StripValues removes the overrides of an environment that is deleted.
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
		after[i].Environments = maps.Clone(config.Environments)
		delete(after[i].Environments, environment)
		after[i].UpdatedAt = tx.Now()
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
