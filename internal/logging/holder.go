package logging

import (
	"context"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
)

// CountOverrides counts the levels that loggers and groups hold for an
// environment.
func CountOverrides(ctx context.Context, tx ReadTx, account, environment string) (int, error) {
	loggers, err := tx.LoggersWithEnvironment(ctx, account, environment)
	if err != nil {
		return 0, err
	}
	groups, err := tx.LogGroupsWithEnvironment(ctx, account, environment)
	return len(loggers) + len(groups), err
}

// StripOverrides removes what loggers and groups hold for an environment that
// is deleted. A logger that is left with nothing set is released. Running
// services are told once.
func StripOverrides(ctx context.Context, tx Tx, caller accounts.Caller, environment string) error {
	groups, err := stripGroups(ctx, tx, caller, environment)
	if err != nil {
		return err
	}
	found, err := tx.LoggersWithEnvironment(ctx, caller.Account, environment)
	if err != nil {
		return err
	}
	loggers, err := follow(ctx, tx, caller, found, func(logger Logger) Logger {
		logger.Levels = logger.without(environment)
		return logger
	})
	if err != nil {
		return err
	}
	kind, keys := Kind, loggers
	if len(loggers) == 0 {
		kind, keys = KindGroup, groups
	}
	return changes.RecordSeveral(ctx, tx, caller.Account, caller.Actor(), changes.Cascaded, kind,
		changes.Several{Keys: keys, Cause: "environment:" + environment})
}

func stripGroups(ctx context.Context, tx Tx, caller accounts.Caller, environment string) ([]string, error) {
	groups, err := tx.LogGroupsWithEnvironment(ctx, caller.Account, environment)
	if err != nil {
		return nil, err
	}
	keys := make([]string, len(groups))
	for i, before := range groups {
		after := before
		after.Levels, after.UpdatedAt, keys[i] = before.without(environment), tx.Now(), before.Key
		if err := tx.SaveLogGroup(ctx, after); err != nil {
			return nil, err
		}
		if err := changes.RecordAs(ctx, tx, caller.Account, caller.Actor(), changes.Cascaded, KindGroup, before.Key, &before, &after); err != nil {
			return nil, err
		}
	}
	return keys, nil
}
