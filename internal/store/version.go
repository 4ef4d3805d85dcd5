package store

import (
	"context"
	"errors"
	"sync"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/coalesce"
	"github.com/signalbox/signalbox/internal/fault"
)

// Version returns the number of an account's last change. See Versions.
func (db *DB) Version(ctx context.Context, account string) (int64, error) {
	versions, err := db.Versions(ctx, account)
	return versions.Changes, err
}

// Versions returns an account's versions, at least as new as every change acknowledged before the call. On SQLite
// a change by another process may be seen up to watchInterval late.
func (db *DB) Versions(ctx context.Context, account string) (accounts.Versions, error) {
	epoch, counted, err := db.engine.epoch(ctx)
	if err != nil {
		return accounts.Versions{}, classify(ctx, err)
	}
	if counted {
		if versions, ok := db.versions.get(epoch, account); ok {
			return versions, nil
		}
	}
	// Callers that came before a read began share it: it includes every change that was acknowledged to any of them.
	versions, err := db.reads.Do(ctx, account, struct{}{}, func(ctx context.Context, _ []struct{}) (accounts.Versions, error) {
		return db.accountVersions(ctx, account)
	})
	if errors.Is(err, coalesce.ErrStopped) {
		err = errClosed
	}
	if err == nil && counted {
		db.versions.put(epoch, account, versions)
	}
	return versions, classify(ctx, err)
}

func (db *DB) accountVersions(ctx context.Context, account string) (accounts.Versions, error) {
	return fetch(ctx, db, forDecisions, func(ctx context.Context, tx *ReadTx) (accounts.Versions, error) {
		return one(ctx, tx.conn, fault.Missing("account", account), scanVersions,
			`SELECT change_seq, access_seq FROM accounts WHERE id = $1`, account)
	})
}

// AccessVersion returns the number of the account's last change that decides access.
func (tx *ReadTx) AccessVersion(ctx context.Context, account string) (int64, error) {
	version, err := one(ctx, tx.conn, fault.Missing("account", account), scanInt, `SELECT access_seq FROM accounts WHERE id = $1`, account)
	return int64(version), err
}

// AccessVersion is ReadTx.AccessVersion, but reads the locked account at most once.
func (tx *Tx) AccessVersion(ctx context.Context, account string) (version int64, err error) {
	if account == tx.locked && tx.access != 0 {
		return tx.access, nil
	}
	if version, err = tx.ReadTx.AccessVersion(ctx, account); err == nil && account == tx.locked {
		tx.access = version
	}
	return version, err
}

func scanVersions(r row) (v accounts.Versions, err error) {
	err = r.Scan(&v.Changes, &v.Access)
	return v, err
}

// versionCache holds the accounts' versions until the next commit to the database.
type versionCache struct {
	mu    sync.Mutex
	epoch int64
	known map[string]accounts.Versions
}

func (c *versionCache) get(epoch int64, account string) (accounts.Versions, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	versions, ok := c.known[account]
	return versions, ok && c.epoch == epoch
}

// put stores versions that were read after the epoch, so they are at least as new as the epoch.
func (c *versionCache) put(epoch int64, account string, versions accounts.Versions) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch != epoch || c.known == nil {
		c.epoch, c.known = epoch, map[string]accounts.Versions{}
	}
	c.known[account] = versions
}
