package app

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/logging"
)

// flagValues tells package environments what flags hold per environment. The
// store's transactions satisfy the interfaces of both packages, which do not
// know each other.
type flagValues struct{}

// CountValues adds the rules and defaults that flags hold for an environment.
func (flagValues) CountValues(ctx context.Context, tx environments.ReadTx, account, environment string, usage *environments.Usage) error {
	reader, ok := tx.(flags.ReadTx)
	if !ok {
		return fmt.Errorf("%T does not read flags", tx)
	}
	rules, defaults, err := flags.CountValues(ctx, reader, account, environment)
	usage.FlagRules += rules
	usage.FlagEnvDefaults += defaults
	return err
}

// StripValues removes what flags hold for an environment.
func (flagValues) StripValues(ctx context.Context, tx environments.Tx, caller accounts.Caller, environment string) error {
	writer, ok := tx.(flags.Tx)
	if !ok {
		return fmt.Errorf("%T does not write flags", tx)
	}
	return flags.StripValues(ctx, writer, caller, environment)
}

// loggerOverrides tells package environments what loggers and log groups hold
// per environment.
type loggerOverrides struct{}

// CountValues adds the levels that loggers and groups hold for an environment.
func (loggerOverrides) CountValues(ctx context.Context, tx environments.ReadTx, account, environment string, usage *environments.Usage) error {
	reader, ok := tx.(logging.ReadTx)
	if !ok {
		return fmt.Errorf("%T does not read loggers", tx)
	}
	count, err := logging.CountOverrides(ctx, reader, account, environment)
	usage.LoggerOverrides += count
	return err
}

// StripValues removes the levels that loggers and groups hold for an environment.
func (loggerOverrides) StripValues(ctx context.Context, tx environments.Tx, caller accounts.Caller, environment string) error {
	writer, ok := tx.(logging.Tx)
	if !ok {
		return fmt.Errorf("%T does not write loggers", tx)
	}
	return logging.StripOverrides(ctx, writer, caller, environment)
}

// configValues tells package environments what configs hold per environment.
type configValues struct{}

// CountValues adds the overrides that configs hold for an environment.
func (configValues) CountValues(ctx context.Context, tx environments.ReadTx, account, environment string, usage *environments.Usage) error {
	reader, ok := tx.(configs.ReadTx)
	if !ok {
		return fmt.Errorf("%T does not read configs", tx)
	}
	overrides, err := configs.CountValues(ctx, reader, account, environment)
	usage.ConfigOverrides += overrides
	return err
}

// StripValues removes what configs hold for an environment.
func (configValues) StripValues(ctx context.Context, tx environments.Tx, caller accounts.Caller, environment string) error {
	writer, ok := tx.(configs.Tx)
	if !ok {
		return fmt.Errorf("%T does not write configs", tx)
	}
	return configs.StripValues(ctx, writer, caller, environment)
}
