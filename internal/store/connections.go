package store

import (
	"context"

	"github.com/signalbox/signalbox/internal/connections"
	"github.com/signalbox/signalbox/internal/page"
)

// Connections returns the transactions of package connections.
func (db *DB) Connections() Transactions[connections.ReadTx, connections.Tx] {
	return NewTransactions(db, func(tx *ReadTx) connections.ReadTx { return tx }, func(tx *Tx) connections.Tx { return tx })
}

const connectionColumns = `id, account_id, node, service, environment, client, connected_at, seq`

func scanConnection(r row) (c connections.Connection, err error) {
	err = r.Scan(&c.ID, &c.Account, &c.Node, &c.Service, &c.Environment, &c.Client, asTime(&c.ConnectedAt), &c.Seq)
	return c, err
}

// Connections returns the connections of an account on live nodes, newest first.
func (tx *ReadTx) Connections(ctx context.Context, account, before string, size int) (page.Tail[connections.Connection], error) {
	found := list{columns: connectionColumns, table: "connections", byDefault: "id DESC"}.of(account)
	found.where("boot IN (SELECT boot FROM worker_nodes)")
	if before != "" {
		found.where("id < ?", before)
	}
	return tailOf(ctx, tx, found, size, scanConnection, func(c connections.Connection) int { return len(c.Client) })
}

// SaveConnections inserts connections of a boot (one start of a node), or updates the seq of
// existing ones.
func (tx *Tx) SaveConnections(ctx context.Context, boot string, saved []connections.Connection) error {
	rows := make([][]any, len(saved))
	for i, c := range saved {
		rows[i] = []any{c.ID, c.Account, c.Node, c.Service, c.Environment, c.Client, micros(c.ConnectedAt), c.Seq, boot}
	}
	return inserts(ctx, tx, `INSERT INTO connections (`+connectionColumns+`, boot) VALUES`, `ON CONFLICT (id) DO UPDATE SET seq = excluded.seq`, rows)
}

// RemoveConnections removes connections of a boot.
func (tx *Tx) RemoveConnections(ctx context.Context, boot string, ids []string) error {
	return tx.run(ctx, `DELETE FROM connections WHERE boot = $1 AND id `+tx.dialect.among, boot, tx.dialect.texts(ids))
}

// ClearConnections removes all connections of a boot.
func (tx *Tx) ClearConnections(ctx context.Context, boot string) error {
	return tx.run(ctx, `DELETE FROM connections WHERE boot = $1`, boot)
}

// CountConnections counts the connections of a boot.
func (tx *Tx) CountConnections(ctx context.Context, boot string) (int, error) {
	return scalar(ctx, tx.conn, scanInt, `SELECT count(*) FROM connections WHERE boot = $1`, boot)
}

// RemoveLostConnections removes up to limit connections of nodes that are gone.
func (tx *Tx) RemoveLostConnections(ctx context.Context, limit int) error {
	return tx.run(ctx, `DELETE FROM connections WHERE id IN
		(SELECT id FROM connections WHERE boot NOT IN (SELECT boot FROM worker_nodes) LIMIT $1)`, limit)
}
