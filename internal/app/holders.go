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

// holders tell package environments what each product holds per environment.
func holders() []environments.Holder {
	return []environments.Holder{
		holder[flags.ReadTx, flags.Tx]{strip: flags.StripValues,
			count: func(ctx context.Context, tx flags.ReadTx, account, environment string, usage *environments.Usage) (err error) {
				usage.FlagRules, usage.FlagEnvDefaults, err = flags.CountValues(ctx, tx, account, environment)
				return err
			}},
		holder[logging.ReadTx, logging.Tx]{strip: logging.StripOverrides,
			count: func(ctx context.Context, tx logging.ReadTx, account, environment string, usage *environments.Usage) (err error) {
				usage.LoggerOverrides, err = logging.CountOverrides(ctx, tx, account, environment)
				return err
			}},
		holder[configs.ReadTx, configs.Tx]{strip: configs.StripValues,
			count: func(ctx context.Context, tx configs.ReadTx, account, environment string, usage *environments.Usage) (err error) {
				usage.ConfigOverrides, err = configs.CountValues(ctx, tx, account, environment)
				return err
			}},
	}
}

// holder is a product that holds values per environment. The store's
// transactions satisfy the interfaces of all packages, which do not know each
// other.
type holder[Reader, Writer any] struct {
	count func(ctx context.Context, tx Reader, account, environment string, usage *environments.Usage) error
	strip func(ctx context.Context, tx Writer, caller accounts.Caller, environment string) error
}

// CountValues tells how much the product holds for an environment.
func (h holder[Reader, Writer]) CountValues(ctx context.Context, tx environments.ReadTx, account, environment string, usage *environments.Usage) error {
	reader, ok := tx.(Reader)
	if !ok {
		return fmt.Errorf("%T does not read what %T counts", tx, h)
	}
	return h.count(ctx, reader, account, environment, usage)
}

// StripValues removes what the product holds for an environment.
func (h holder[Reader, Writer]) StripValues(ctx context.Context, tx environments.Tx, caller accounts.Caller, environment string) error {
	writer, ok := tx.(Writer)
	if !ok {
		return fmt.Errorf("%T does not write what %T removes", tx, h)
	}
	return h.strip(ctx, writer, caller, environment)
}
