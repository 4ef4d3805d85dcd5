package store

import (
	"context"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
)

// Accounts returns the transactions of package accounts.
func (db *DB) Accounts() Transactions[accounts.ReadTx, accounts.Tx] {
	return NewTransactions(db, func(tx *ReadTx) accounts.ReadTx { return tx }, func(tx *Tx) accounts.Tx { return tx })
}

const accountColumns = `id, key, name, plans, created_at, updated_at`

func scanAccount(r row) (a accounts.Account, err error) {
	err = r.Scan(&a.ID, &a.Key, &a.Name, asJSON(&a.Plans), asTime(&a.CreatedAt), asTime(&a.UpdatedAt))
	return a, err
}

// Account returns an account by its id.
func (tx *ReadTx) Account(ctx context.Context, id string) (accounts.Account, error) {
	return one(ctx, tx.conn, fault.Missing("account", id), scanAccount,
		`SELECT `+accountColumns+` FROM accounts WHERE id = $1`, id)
}

// AccountByKey returns an account by its key.
func (tx *ReadTx) AccountByKey(ctx context.Context, key string) (accounts.Account, error) {
	return one(ctx, tx.conn, fault.Missing("account", key), scanAccount,
		`SELECT `+accountColumns+` FROM accounts WHERE key = $1`, key)
}

// AllAccounts lists the accounts of this server, oldest first.
func (tx *ReadTx) AllAccounts(ctx context.Context) ([]accounts.Account, error) {
	return all(ctx, tx.conn, scanAccount, `SELECT `+accountColumns+` FROM accounts ORDER BY created_at, id`)
}

// FirstAccount returns the oldest account of this server.
func (tx *ReadTx) FirstAccount(ctx context.Context) (accounts.Account, error) {
	return one(ctx, tx.conn, fault.New(fault.NotFound, "There is no account yet."), scanAccount,
		`SELECT `+accountColumns+` FROM accounts ORDER BY created_at, id LIMIT 1`)
}

// InsertAccount writes a new account without settings.
func (tx *Tx) InsertAccount(ctx context.Context, a accounts.Account) error {
	return tx.run(ctx, `INSERT INTO accounts (id, key, name, plans, settings, environment_order, change_seq, created_at, updated_at)
		VALUES ($1, $2, $3, $4, '{}', '[]', 0, $5, $6)`, a.ID, a.Key, a.Name, asJSON(a.Plans), micros(a.CreatedAt), micros(a.UpdatedAt))
}

// UpdateAccount writes an account's name, key and plans.
func (tx *Tx) UpdateAccount(ctx context.Context, a accounts.Account) error {
	return tx.run(ctx, `UPDATE accounts SET key = $2, name = $3, plans = $4, updated_at = $5 WHERE id = $1`,
		a.ID, a.Key, a.Name, asJSON(a.Plans), micros(a.UpdatedAt))
}

func scanSettings(r row) (s accounts.Settings, err error) {
	err = r.Scan(rawJSON(&s.Other), asJSON(&s.Order))
	return s, err
}

// AccountSettings returns the settings of an account.
func (tx *ReadTx) AccountSettings(ctx context.Context, account string) (accounts.Settings, error) {
	return one(ctx, tx.conn, fault.Missing("account", account), scanSettings,
		`SELECT settings, environment_order FROM accounts WHERE id = $1`, account)
}

// SetAccountSettings writes the settings of an account.
func (tx *Tx) SetAccountSettings(ctx context.Context, account string, settings accounts.Settings) error {
	return tx.run(ctx, `UPDATE accounts SET settings = $2, environment_order = $3 WHERE id = $1`,
		account, string(settings.Other), asJSON(append([]string{}, settings.Order...)))
}

// UserSettings returns the settings of a user; a nil Order means the account's order.
func (tx *ReadTx) UserSettings(ctx context.Context, account, user string) (accounts.Settings, error) {
	return one(ctx, tx.conn, fault.Missing("user", user), scanSettings,
		`SELECT settings, environment_order FROM users WHERE account_id = $1 AND id = $2`, account, user)
}

// SetUserSettings writes the settings of a user.
func (tx *Tx) SetUserSettings(ctx context.Context, account, user string, settings accounts.Settings) error {
	var order any // nil means the account's order
	if settings.Order != nil {
		order = asJSON(settings.Order)
	}
	return tx.run(ctx, `UPDATE users SET settings = $3, environment_order = $4 WHERE account_id = $1 AND id = $2`,
		account, user, string(settings.Other), order)
}
