package app

import (
	"context"

	"github.com/signalbox/signalbox/internal/api"
	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/store"
)

// snapshots reads the data of all products that running services load, from one
// state of the database.
type snapshots struct{ db *store.DB }

// Snapshot reads parts of an account's snapshot in an environment.
func (s snapshots) Snapshot(ctx context.Context, account, environment string, parts api.SnapshotParts, config func(configs.Resolved) error) (api.Snapshot, error) {
	var found api.Snapshot
	all := store.NewTransactions(s.db, func(tx *store.ReadTx) *store.ReadTx { return tx }, func(tx *store.Tx) *store.Tx { return tx })
	err := all.Snapshot(ctx, func(ctx context.Context, tx *store.ReadTx) (err error) {
		if found.Seq, err = tx.LastChange(ctx, account); err != nil {
			return err
		}
		if parts.Flags {
			if found.Flags, err = flags.InEnvironment(ctx, tx, account, environment); err != nil {
				return err
			}
		}
		if parts.Levels {
			if found.Loggers, found.Groups, err = logging.InEnvironment(ctx, tx, account, environment); err != nil {
				return err
			}
		}
		if parts.Files {
			files, err := logging.ForFiles(ctx, tx, account, environment)
			if err != nil {
				return err
			}
			found.Files = &files
		}
		if parts.Configs {
			return configs.InEnvironment(ctx, tx, account, environment, config)
		}
		return nil
	})
	return found, err
}
