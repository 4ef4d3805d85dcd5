package store

import (
	"context"
	"sync"

	"github.com/signalbox/signalbox/internal/fault"
)

// versions remembers the accounts' versions while nothing at all was committed.
type versions struct {
	mu    sync.Mutex
	epoch int64
	known map[string]int64
}

// Version gives the number of an account's last recorded change, as of now,
// whoever made it. On SQLite it costs a look at the file's commit counter.
func (db *DB) Version(ctx context.Context, account string) (int64, error) {
	epoch, counted, err := db.engine.epoch(ctx)
	if err != nil {
		return 0, classify(err)
	}
	if !counted {
		return db.accountVersion(ctx, account)
	}
	if version, ok := db.versions.recall(epoch, account); ok {
		return version, nil
	}
	version, err := db.accountVersion(ctx, account)
	if err == nil {
		db.versions.keep(epoch, account, version)
	}
	return version, err
}

func (db *DB) accountVersion(ctx context.Context, account string) (version int64, err error) {
	err = db.Read(ctx, func(tx *ReadTx) error {
		seq, err := one(ctx, tx.conn, fault.Missing("account", account), scanInt,
			`SELECT change_seq FROM accounts WHERE id = $1`, account)
		version = int64(seq)
		return err
	})
	return version, err
}

func (v *versions) recall(epoch int64, account string) (int64, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	version, ok := v.known[account]
	return version, ok && v.epoch == epoch
}

// keep stores a version that was read after the epoch: it is at least as new.
func (v *versions) keep(epoch int64, account string, version int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.epoch != epoch || v.known == nil {
		v.epoch, v.known = epoch, map[string]int64{}
	}
	v.known[account] = version
}
