package store

import (
	"context"

	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/page"
)

const environmentColumns = `account_id, key, name, color, classification, managed, created_at, updated_at`

func scanEnvironment(r row) (e environments.Environment, err error) {
	err = r.Scan(&e.Account, &e.Key, &e.Name, &e.Color, &e.Classification, &e.Managed, asTime(&e.CreatedAt), asTime(&e.UpdatedAt))
	return e, err
}

// Environment returns an environment of an account.
func (tx *ReadTx) Environment(ctx context.Context, account, key string) (environments.Environment, error) {
	return one(ctx, tx.conn, fault.Missing("environment", key), scanEnvironment,
		`SELECT `+environmentColumns+` FROM environments WHERE account_id = $1 AND key = $2`, account, key)
}

// Environments lists the environments of an account.
func (tx *ReadTx) Environments(ctx context.Context, account string, filter environments.Filter, request page.Request) (page.List[environments.Environment], error) {
	found := list{columns: environmentColumns, table: "environments", byDefault: "name", tie: "key", sorts: sortsByName()}.of(account)
	found.search(filter.Search)
	found.equals("classification", string(filter.Classification))
	found.is("managed", filter.Managed)
	return pageOf(ctx, tx, found, request, scanEnvironment)
}

// ManagedEnvironments returns every environment of an account and whether it is managed.
func (tx *ReadTx) ManagedEnvironments(ctx context.Context, account string) (map[string]bool, error) {
	return mapOf[string, bool](ctx, tx.conn, `SELECT key, managed FROM environments WHERE account_id = $1`, account)
}

// CountManagedEnvironments counts the managed environments of an account.
func (tx *ReadTx) CountManagedEnvironments(ctx context.Context, account string) (int, error) {
	return scalar(ctx, tx.conn, scanInt, `SELECT count(*) FROM environments WHERE account_id = $1 AND managed = TRUE`, account)
}

// InsertEnvironments writes new environments.
func (tx *Tx) InsertEnvironments(ctx context.Context, made ...environments.Environment) error {
	rows := make([][]any, len(made))
	for i, e := range made {
		rows[i] = []any{e.Account, e.Key, e.Name, e.Color, string(e.Classification), e.Managed, micros(e.CreatedAt), micros(e.UpdatedAt),
			searchable(e.Key, e.Name)}
	}
	return inserts(ctx, tx, `INSERT INTO environments (`+environmentColumns+`, search) VALUES`, "", rows)
}

// UpdateEnvironment writes the fields of an environment that may change.
func (tx *Tx) UpdateEnvironment(ctx context.Context, e environments.Environment) error {
	return tx.run(ctx, `UPDATE environments SET name = $3, color = $4, classification = $5, managed = $6, updated_at = $7, search = $8
		WHERE account_id = $1 AND key = $2`,
		e.Account, e.Key, e.Name, e.Color, string(e.Classification), e.Managed, micros(e.UpdatedAt), searchable(e.Key, e.Name))
}

// DeleteEnvironment removes an environment.
func (tx *Tx) DeleteEnvironment(ctx context.Context, account, key string) error {
	return tx.run(ctx, `DELETE FROM environments WHERE account_id = $1 AND key = $2`, account, key)
}

// EnvironmentOrders returns the account's order and the orders that users chose.
func (tx *ReadTx) EnvironmentOrders(ctx context.Context, account string) (environments.Orders, error) {
	orders := environments.Orders{Users: map[string][]string{}}
	settings, err := tx.AccountSettings(ctx, account)
	if err != nil {
		return orders, err
	}
	orders.Account = settings.Order
	_, err = all(ctx, tx.conn, func(r row) (user string, err error) {
		var order []string
		err = r.Scan(&user, asJSON(&order))
		orders.Users[user] = order
		return user, err
	}, `SELECT id, environment_order FROM users WHERE account_id = $1 AND environment_order IS NOT NULL`, account)
	return orders, err
}

// SetAccountOrder writes the account's order of environments.
func (tx *Tx) SetAccountOrder(ctx context.Context, account string, order []string) error {
	return tx.run(ctx, `UPDATE accounts SET environment_order = $2 WHERE id = $1`, account, asJSON(order))
}

// SetUserOrder writes a user's own order of environments.
func (tx *Tx) SetUserOrder(ctx context.Context, account, user string, order []string) error {
	return tx.run(ctx, `UPDATE users SET environment_order = $3 WHERE account_id = $1 AND id = $2`, account, user, asJSON(order))
}
