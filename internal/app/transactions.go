package app

import (
	"context"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/store"
)

// Some domain packages call another one inside their transaction, but domain
// packages do not import each other. So the transactions are extended here.

// environmentTransactions returns transactions that also count and remove the
// values of all products in an environment.
func environmentTransactions(db *store.DB) environments.Store {
	return store.NewTransactions(db,
		func(tx *store.ReadTx) environments.ReadTx { return environmentReads{tx} },
		func(tx *store.Tx) environments.Tx { return environmentWrites{tx} })
}

type environmentReads struct{ *store.ReadTx }

// CountValues counts the values of the products in an environment.
func (tx environmentReads) CountValues(ctx context.Context, account, environment string) (usage environments.Usage, err error) {
	if usage.FlagRules, usage.FlagEnvDefaults, err = flags.CountValues(ctx, tx, account, environment); err != nil {
		return usage, err
	}
	if usage.LoggerOverrides, err = logging.CountOverrides(ctx, tx, account, environment); err != nil {
		return usage, err
	}
	usage.ConfigOverrides, err = configs.CountValues(ctx, tx, account, environment)
	return usage, err
}

type environmentWrites struct{ *store.Tx }

// CountValues counts the values of the products in an environment.
func (tx environmentWrites) CountValues(ctx context.Context, account, environment string) (environments.Usage, error) {
	return environmentReads{&tx.ReadTx}.CountValues(ctx, account, environment)
}

// StripValues removes the values of the products in an environment.
func (tx environmentWrites) StripValues(ctx context.Context, caller accounts.Caller, environment string) error {
	if err := flags.StripValues(ctx, tx, caller, environment); err != nil {
		return err
	}
	if err := logging.StripOverrides(ctx, tx, caller, environment); err != nil {
		return err
	}
	return configs.StripValues(ctx, tx, caller, environment)
}

// observationTransactions returns transactions that can also create
// environments, for services that report new ones.
func observationTransactions(db *store.DB) store.Transactions[observations.ReadTx, observations.Tx] {
	return store.NewTransactions(db,
		func(tx *store.ReadTx) observations.ReadTx { return tx },
		func(tx *store.Tx) observations.Tx { return observationWrites{tx} })
}

type observationWrites struct{ *store.Tx }

// CreateEnvironments creates the environments that a service reported.
func (tx observationWrites) CreateEnvironments(ctx context.Context, caller accounts.Caller, keys []string) error {
	return environments.Discover(ctx, tx, caller, keys)
}
