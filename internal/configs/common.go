package configs

import (
	"context"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/transaction"
)

// provideCommon makes the common config, if it is not there, for a read that
// shows it.
func (s *Service) provideCommon(ctx context.Context, account string) error {
	_, err := transaction.Read(ctx, s.Store, func(tx ReadTx) (Config, error) { return tx.Config(ctx, account, Common) })
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	return s.Store.Write(ctx, account, func(tx Tx) error { return ensureCommon(ctx, tx, account) })
}

// ensureCommonParent makes the common config for a config that hangs on it.
func ensureCommonParent(ctx context.Context, tx Tx, config Config) error {
	if config.Parent == nil || *config.Parent != Common || config.Key == Common {
		return nil
	}
	return ensureCommon(ctx, tx, config.Account)
}

// ensureCommon makes the common config unless it is there. No plan refuses it:
// nobody asked for it.
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
