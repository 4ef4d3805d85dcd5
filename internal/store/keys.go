package store

import (
	"context"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/page"
)

const keyColumns = `id, account_id, hash, name, role, status, scopes, expires_at, last_used_at, created_by, created_at, updated_at`

func scanKey(r row) (accounts.Key, error) {
	var key accounts.Key
	var scopes string
	var expires, used *int64
	var created, updated int64
	if err := r.Scan(&key.ID, &key.Account, &key.Hash, &key.Name, &key.Role, &key.Status, &scopes,
		&expires, &used, &key.CreatedBy, &created, &updated); err != nil {
		return key, err
	}
	key.ExpiresAt, key.LastUsedAt = instantOrNil(expires), instantOrNil(used)
	key.CreatedAt, key.UpdatedAt = instant(created), instant(updated)
	return key, decode(scopes, &key.Scopes)
}

// Key gives a key of an account.
func (tx *ReadTx) Key(ctx context.Context, account, id string) (accounts.Key, error) {
	return one(ctx, tx.conn, fault.Missing("API key", id), scanKey,
		`SELECT `+keyColumns+` FROM api_keys WHERE account_id = $1 AND id = $2`, account, id)
}

// KeyByHash gives the key with a hash, of any account.
func (db *DB) KeyByHash(ctx context.Context, hash string) (key accounts.Key, err error) {
	err = db.Read(ctx, func(tx *ReadTx) error {
		key, err = one(ctx, tx.conn, fault.New(fault.NotFound, "There is no such API key."), scanKey,
			`SELECT `+keyColumns+` FROM api_keys WHERE hash = $1`, hash)
		return err
	})
	return key, err
}

// Keys lists the keys of an account.
func (tx *ReadTx) Keys(ctx context.Context, account string, request page.Request) (page.List[accounts.Key], error) {
	keys := &list{
		columns: keyColumns, table: "api_keys", byDefault: "name", tie: "id",
		sorts: map[string]string{"name": "name", "status": "status", "created_at": "created_at",
			"expires_at": "expires_at", "last_used_at": "last_used_at"},
	}
	keys.where("account_id = ?", account)
	return pageOf(ctx, tx, keys, request, scanKey)
}

// InsertKey writes a new key.
func (tx *Tx) InsertKey(ctx context.Context, key accounts.Key) error {
	scopes, err := encode(key.Scopes)
	if err != nil {
		return err
	}
	return tx.run(ctx, `INSERT INTO api_keys (`+keyColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		key.ID, key.Account, key.Hash, key.Name, string(key.Role), string(key.Status), scopes, microsOrNull(key.ExpiresAt),
		microsOrNull(key.LastUsedAt), key.CreatedBy, micros(key.CreatedAt), micros(key.UpdatedAt))
}

// UpdateKey writes what may change of a key.
func (tx *Tx) UpdateKey(ctx context.Context, key accounts.Key) error {
	scopes, err := encode(key.Scopes)
	if err != nil {
		return err
	}
	return tx.run(ctx, `UPDATE api_keys SET name = $3, role = $4, status = $5, scopes = $6, expires_at = $7, updated_at = $8
		WHERE account_id = $1 AND id = $2`,
		key.Account, key.ID, key.Name, string(key.Role), string(key.Status), scopes, microsOrNull(key.ExpiresAt), micros(key.UpdatedAt))
}

// DeleteKey removes a key.
func (tx *Tx) DeleteKey(ctx context.Context, account, id string) error {
	return tx.run(ctx, `DELETE FROM api_keys WHERE account_id = $1 AND id = $2`, account, id)
}
