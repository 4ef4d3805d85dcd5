package store

import (
	"context"
	"slices"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/page"
)

const keyColumns = `id, account_id, hash, name, role, status, access, scopes, expires_at, last_used_at, created_by, created_at, updated_at`

func scanKey(r row) (k accounts.Key, err error) {
	err = r.Scan(keyFields(&k)...)
	return k, err
}

func keyFields(k *accounts.Key) []any {
	return []any{&k.ID, &k.Account, &k.Hash, &k.Name, &k.Role, &k.Status, &k.Access, asJSON(&k.Scopes),
		asTimeOrNull(&k.ExpiresAt), asTimeOrNull(&k.LastUsedAt), &k.CreatedBy, asTime(&k.CreatedAt), asTime(&k.UpdatedAt)}
}

// Key returns a key of an account.
func (tx *ReadTx) Key(ctx context.Context, account, id string) (accounts.Key, error) {
	return one(ctx, tx.conn, fault.Missing("API key", id), scanKey,
		`SELECT `+keyColumns+` FROM api_keys WHERE account_id = $1 AND id = $2`, account, id)
}

// KeyByHash returns the key with the hash, in any account, and the versions of its account, read in one
// statement.
func (db *DB) KeyByHash(ctx context.Context, hash string) (accounts.Key, accounts.Versions, error) {
	return db.keyWhere(ctx, `hash = $1`, hash)
}

// KeyByID is like KeyByHash for an account's key with this id.
func (db *DB) KeyByID(ctx context.Context, account, id string) (accounts.Key, accounts.Versions, error) {
	return db.keyWhere(ctx, `account_id = $1 AND id = $2`, account, id)
}

func (db *DB) keyWhere(ctx context.Context, condition string, args ...any) (key accounts.Key, versions accounts.Versions, err error) {
	key, err = fetch(ctx, db, forDecisions, func(ctx context.Context, tx *ReadTx) (accounts.Key, error) {
		return one(ctx, tx.conn, fault.New(fault.NotFound, "There is no such API key."), func(r row) (k accounts.Key, err error) {
			err = r.Scan(append(keyFields(&k), &versions.Changes, &versions.Access)...)
			return k, err
		}, `SELECT `+keyColumns+`, (SELECT change_seq FROM accounts a WHERE a.id = account_id), (SELECT access_seq FROM accounts a WHERE a.id = account_id)
			FROM api_keys WHERE `+condition, args...)
	})
	return key, versions, err
}

// Existing returns the hashes that belong to active keys or open sessions of any account.
func (db *DB) Existing(ctx context.Context, hashes []string) (map[string]bool, error) {
	return fetch(ctx, db, forDecisions, func(ctx context.Context, tx *ReadTx) (map[string]bool, error) {
		existing := map[string]bool{}
		for some := range slices.Chunk(hashes, maxHashes) {
			found, err := all(ctx, tx.conn, scanString, `SELECT hash FROM api_keys WHERE status = $1 AND hash `+tx.dialect.among,
				string(accounts.Active), tx.dialect.texts(some))
			if err != nil {
				return nil, err
			}
			open, err := all(ctx, tx.conn, scanString, `SELECT hash FROM sessions WHERE expires_at > $1 AND hash `+tx.dialect.among,
				tx.now.UnixMicro(), tx.dialect.texts(some))
			if err != nil {
				return nil, err
			}
			for _, hash := range slices.Concat(found, open) {
				existing[hash] = true
			}
		}
		return existing, nil
	})
}

// maxHashes bounds the hashes of one query.
const maxHashes = 1000

// Keys lists the keys of an account.
func (tx *ReadTx) Keys(ctx context.Context, account string, filter accounts.KeyFilter, request page.Request) (page.List[accounts.Key], error) {
	found := list{columns: keyColumns, table: "api_keys", byDefault: "name", tie: "id",
		sorts: sorts("name", "status", "created_at", "expires_at", "last_used_at")}.of(account)
	found.search(filter.Search)
	return pageOf(ctx, tx, found, request, scanKey)
}

// InsertKey writes a new key.
func (tx *Tx) InsertKey(ctx context.Context, k accounts.Key) error {
	return tx.run(ctx, `INSERT INTO api_keys (`+keyColumns+`, search) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		k.ID, k.Account, k.Hash, k.Name, string(k.Role), string(k.Status), string(k.Access), asJSON(k.Scopes), microsOrNull(k.ExpiresAt),
		microsOrNull(k.LastUsedAt), k.CreatedBy, micros(k.CreatedAt), micros(k.UpdatedAt), searchable(k.ID, k.Name))
}

// UpdateKey writes the fields of a key that may change.
func (tx *Tx) UpdateKey(ctx context.Context, k accounts.Key) error {
	return tx.run(ctx, `UPDATE api_keys SET name = $3, role = $4, status = $5, scopes = $6, expires_at = $7, updated_at = $8, search = $9, access = $10
		WHERE account_id = $1 AND id = $2`,
		k.Account, k.ID, k.Name, string(k.Role), string(k.Status), asJSON(k.Scopes), microsOrNull(k.ExpiresAt), micros(k.UpdatedAt),
		searchable(k.ID, k.Name), string(k.Access))
}

// DeleteKey removes a key.
func (tx *Tx) DeleteKey(ctx context.Context, account, id string) error {
	return tx.run(ctx, `DELETE FROM api_keys WHERE account_id = $1 AND id = $2`, account, id)
}
