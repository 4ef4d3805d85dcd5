package configs

import (
	"context"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/transaction"
)

// provide creates the common config if it is the requested one and does not exist.
func (s *Service) provide(ctx context.Context, account, key string) error {
	if key != Common {
		return nil
	}
	_, err := transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (Config, error) { return tx.Config(ctx, account, Common) })
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	return s.Store.Write(ctx, account, func(ctx context.Context, tx Tx) error { return ensureCommon(ctx, tx, account) })
}

// ensureCommon creates the common config if it is missing. It ignores the plan's limit: no caller asked for the config.
func ensureCommon(ctx context.Context, tx Tx, account string) error {
	_, err := tx.Config(ctx, account, Common)
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	made := Config{Account: account, Key: Common, Name: Common, Items: map[string]Item{}, Environments: map[string]Overrides{},
		CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
	if err := tx.SaveConfigs(ctx, made); err != nil {
		return err
	}
	return changes.Record(ctx, tx, account, changes.System(), Kind, Common, nil, &made)
}
