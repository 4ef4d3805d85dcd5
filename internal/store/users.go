package store

import (
	"context"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/page"
)

const userColumns = `id, account_id, email, COALESCE(address, ''), password, COALESCE(identity, ''), name, role, created_at, updated_at`

func scanUser(r row) (u accounts.User, err error) {
	err = r.Scan(&u.ID, &u.Account, &u.Email, &u.Address, &u.PasswordHash, &u.Identity, &u.Name, &u.Role, asTime(&u.CreatedAt), asTime(&u.UpdatedAt))
	return u.Checked(), err
}

// orNull returns NULL for an absent text, such as an address: addresses are unique, but any number may be NULL.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// User returns a user of an account.
func (tx *ReadTx) User(ctx context.Context, account, id string) (accounts.User, error) {
	return one(ctx, tx.conn, fault.Missing("user", id), scanUser,
		`SELECT `+userColumns+` FROM users WHERE account_id = $1 AND id = $2`, account, id)
}

// UserByAddress returns the user who signs in with an address, in any account.
func (tx *ReadTx) UserByAddress(ctx context.Context, address string) (accounts.User, error) {
	return one(ctx, tx.conn, fault.Missing("user", address), scanUser, `SELECT `+userColumns+` FROM users WHERE address = $1`, address)
}

// UserByIdentity returns the user with an identity, in any account.
func (tx *ReadTx) UserByIdentity(ctx context.Context, identity string) (accounts.User, error) {
	return one(ctx, tx.conn, fault.Missing("user", identity), scanUser, `SELECT `+userColumns+` FROM users WHERE identity = $1`, identity)
}

// Owners returns the owners of an account, oldest first.
func (tx *ReadTx) Owners(ctx context.Context, account string) ([]accounts.User, error) {
	return all(ctx, tx.conn, scanUser, `SELECT `+userColumns+` FROM users WHERE account_id = $1 AND role = 'OWNER' ORDER BY created_at, id`, account)
}

// Users lists the users of an account.
func (tx *ReadTx) Users(ctx context.Context, account string, filter accounts.UserFilter, request page.Request) (page.List[accounts.User], error) {
	found := list{columns: userColumns, table: "users", byDefault: "name", tie: "id",
		sorts: sorts("name", "email", "role", "created_at", "updated_at")}.of(account)
	found.search(filter.Search)
	found.equals("role", string(filter.Role))
	return pageOf(ctx, tx, found, request, scanUser)
}

// CountUsers counts the users of an account.
func (tx *ReadTx) CountUsers(ctx context.Context, account string) (int, error) {
	return scalar(ctx, tx.conn, scanInt, `SELECT count(*) FROM users WHERE account_id = $1`, account)
}

// InsertUser writes a new user without settings.
func (tx *Tx) InsertUser(ctx context.Context, u accounts.User) error {
	return tx.run(ctx, `INSERT INTO users (id, account_id, email, address, password, name, role, created_at, updated_at, search, identity, settings, environment_order)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, '{}', NULL)`,
		u.ID, u.Account, u.Email, orNull(u.Address), u.PasswordHash, u.Name, string(u.Role), micros(u.CreatedAt), micros(u.UpdatedAt),
		searchable(u.Email, u.Name), orNull(u.Identity))
}

// UpdateUser writes the fields of a user that may change, except the settings.
func (tx *Tx) UpdateUser(ctx context.Context, u accounts.User) error {
	return tx.run(ctx, `UPDATE users SET email = $3, address = $4, password = $5, name = $6, role = $7, updated_at = $8, search = $9, identity = $10
		WHERE account_id = $1 AND id = $2`,
		u.Account, u.ID, u.Email, orNull(u.Address), u.PasswordHash, u.Name, string(u.Role), micros(u.UpdatedAt), searchable(u.Email, u.Name),
		orNull(u.Identity))
}

// DeleteUser removes a user and their settings.
func (tx *Tx) DeleteUser(ctx context.Context, account, id string) error {
	return tx.run(ctx, `DELETE FROM users WHERE account_id = $1 AND id = $2`, account, id)
}
