package store

import (
	"context"
	"encoding/json"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
)

// Accounts is the store as package accounts asks for it.
func (db *DB) Accounts() Transactions[accounts.ReadTx, accounts.Tx] {
	return NewTransactions(db,
		func(tx *ReadTx) accounts.ReadTx { return tx },
		func(tx *Tx) accounts.Tx { return tx })
}

const accountColumns = `id, key, name, plans, created_at, updated_at`

func scanAccount(r row) (accounts.Account, error) {
	var account accounts.Account
	var plans string
	var created, updated int64
	if err := r.Scan(&account.ID, &account.Key, &account.Name, &plans, &created, &updated); err != nil {
		return account, err
	}
	account.CreatedAt, account.UpdatedAt = instant(created), instant(updated)
	return account, decode(plans, &account.Plans)
}

// Account gives an account by its id.
func (tx *ReadTx) Account(ctx context.Context, id string) (accounts.Account, error) {
	return one(ctx, tx.conn, fault.Missing("account", id), scanAccount,
		`SELECT `+accountColumns+` FROM accounts WHERE id = $1`, id)
}

// AccountByKey gives an account by its key.
func (tx *ReadTx) AccountByKey(ctx context.Context, key string) (accounts.Account, error) {
	return one(ctx, tx.conn, fault.Missing("account", key), scanAccount,
		`SELECT `+accountColumns+` FROM accounts WHERE key = $1`, key)
}

// AllAccounts lists the accounts of this server, oldest first.
func (tx *ReadTx) AllAccounts(ctx context.Context) ([]accounts.Account, error) {
	return all(ctx, tx.conn, scanAccount, `SELECT `+accountColumns+` FROM accounts ORDER BY created_at, id`)
}

// InsertAccount writes a new account without settings.
func (tx *Tx) InsertAccount(ctx context.Context, account accounts.Account) error {
	plans, err := encode(account.Plans)
	if err != nil {
		return err
	}
	return tx.run(ctx, `INSERT INTO accounts (id, key, name, plans, settings, environment_order, change_seq, created_at, updated_at)
		VALUES ($1, $2, $3, $4, '{}', '[]', 0, $5, $6)`,
		account.ID, account.Key, account.Name, plans, micros(account.CreatedAt), micros(account.UpdatedAt))
}

// UpdateAccount writes an account's name, key and plans.
func (tx *Tx) UpdateAccount(ctx context.Context, account accounts.Account) error {
	plans, err := encode(account.Plans)
	if err != nil {
		return err
	}
	return tx.run(ctx, `UPDATE accounts SET key = $2, name = $3, plans = $4, updated_at = $5 WHERE id = $1`,
		account.ID, account.Key, account.Name, plans, micros(account.UpdatedAt))
}

// AccountSettings gives the settings of an account.
func (tx *ReadTx) AccountSettings(ctx context.Context, account string) (accounts.Settings, error) {
	return one(ctx, tx.conn, fault.Missing("account", account), scanSettings,
		`SELECT settings, environment_order FROM accounts WHERE id = $1`, account)
}

// SetAccountSettings writes the settings of an account.
func (tx *Tx) SetAccountSettings(ctx context.Context, account string, settings accounts.Settings) error {
	order := settings.Order
	if order == nil {
		order = []string{}
	}
	text, err := encode(order)
	if err != nil {
		return err
	}
	return tx.run(ctx, `UPDATE accounts SET settings = $2, environment_order = $3 WHERE id = $1`,
		account, string(settings.Other), text)
}

func scanSettings(r row) (accounts.Settings, error) {
	var settings accounts.Settings
	var other string
	var order *string
	if err := r.Scan(&other, &order); err != nil {
		return settings, err
	}
	settings.Other = json.RawMessage(other)
	if order == nil {
		return settings, nil
	}
	return settings, decode(*order, &settings.Order)
}

const userColumns = `id, account_id, email, name, role, created_at, updated_at`

func scanUser(r row) (accounts.User, error) {
	var user accounts.User
	var created, updated int64
	err := r.Scan(&user.ID, &user.Account, &user.Email, &user.Name, &user.Role, &created, &updated)
	user.CreatedAt, user.UpdatedAt = instant(created), instant(updated)
	return user, err
}

// User gives a user of an account.
func (tx *ReadTx) User(ctx context.Context, account, id string) (accounts.User, error) {
	return one(ctx, tx.conn, fault.Missing("user", id), scanUser,
		`SELECT `+userColumns+` FROM users WHERE account_id = $1 AND id = $2`, account, id)
}

// UserByEmail gives a user of an account by e-mail address.
func (tx *ReadTx) UserByEmail(ctx context.Context, account, email string) (accounts.User, error) {
	return one(ctx, tx.conn, fault.Missing("user", email), scanUser,
		`SELECT `+userColumns+` FROM users WHERE account_id = $1 AND email = $2`, account, email)
}

// FirstOwner gives the oldest owner of an account.
func (tx *ReadTx) FirstOwner(ctx context.Context, account string) (accounts.User, error) {
	return one(ctx, tx.conn, fault.Missing("user", "owner"), scanUser,
		`SELECT `+userColumns+` FROM users WHERE account_id = $1 AND role = 'OWNER' ORDER BY created_at, id LIMIT 1`, account)
}

// InsertUser writes a new user without settings.
func (tx *Tx) InsertUser(ctx context.Context, user accounts.User) error {
	return tx.run(ctx, `INSERT INTO users (id, account_id, email, name, role, settings, environment_order, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, '{}', NULL, $6, $7)`,
		user.ID, user.Account, user.Email, user.Name, string(user.Role), micros(user.CreatedAt), micros(user.UpdatedAt))
}

// UserSettings gives the settings of a user; a nil Order is the account's.
func (tx *ReadTx) UserSettings(ctx context.Context, account, user string) (accounts.Settings, error) {
	return one(ctx, tx.conn, fault.Missing("user", user), scanSettings,
		`SELECT settings, environment_order FROM users WHERE account_id = $1 AND id = $2`, account, user)
}

// SetUserSettings writes the settings of a user.
func (tx *Tx) SetUserSettings(ctx context.Context, account, user string, settings accounts.Settings) error {
	var order *string
	if settings.Order != nil {
		text, err := encode(settings.Order)
		if err != nil {
			return err
		}
		order = &text
	}
	return tx.run(ctx, `UPDATE users SET settings = $3, environment_order = $4 WHERE account_id = $1 AND id = $2`,
		account, user, string(settings.Other), order)
}
