package store

import (
	"context"

	"github.com/signalbox/signalbox/internal/webhooks"
)

// unfinishedDeliveries returns SQL for a column list of the deliveries that wait, under a condition. Each state has an index.
func unfinishedDeliveries(columns, condition string) string {
	return `(SELECT ` + columns + ` FROM webhook_deliveries WHERE status = 'waiting' AND ` + condition + ` UNION ALL
		SELECT ` + columns + ` FROM webhook_deliveries WHERE status = 'pending' AND ` + condition + `) AS unfinished`
}

// OverfullWebhooks returns the webhooks with more unfinished deliveries than a limit. It groups them by webhook only if there
// are more on the whole server, which an index tells.
func (tx *ReadTx) OverfullWebhooks(ctx context.Context, limit int) ([]webhooks.Overfull, error) {
	counted, err := scalar(ctx, tx.conn, scanInt, `SELECT (SELECT count(*) FROM (SELECT 1 FROM webhook_deliveries WHERE status = 'waiting' LIMIT $1) AS waiting)
		+ (SELECT count(*) FROM (SELECT 1 FROM `+pendingDeliveries+` LIMIT $1) AS pending)`, limit+1)
	if err != nil || counted <= limit {
		return nil, err
	}
	return all(ctx, tx.conn, func(r row) (found webhooks.Overfull, err error) {
		err = r.Scan(&found.Account, &found.Webhook)
		return found, err
	}, `SELECT account_id, webhook_id FROM `+unfinishedDeliveries(`account_id, webhook_id`, `1 = 1`)+`
		GROUP BY account_id, webhook_id HAVING count(*) > $1 ORDER BY account_id, webhook_id`, limit)
}

// SurplusDeliveries returns up to batch unfinished deliveries of a webhook that are older than its newest limit ones.
func (tx *ReadTx) SurplusDeliveries(ctx context.Context, of webhooks.Overfull, limit, batch int) ([]string, error) {
	return all(ctx, tx.conn, scanString, `SELECT id FROM `+unfinishedDeliveries(`id`, `account_id = $1 AND webhook_id = $2`)+` ORDER BY id DESC LIMIT $4 OFFSET $3`,
		of.Account, of.Webhook, limit, batch)
}

// EndDeliveries ends unfinished deliveries as failed, with a reason among their attempts, and returns their number. It skips
// deliveries that are being sent or have ended.
func (tx *Tx) EndDeliveries(ctx context.Context, ids []string, why string) (int, error) {
	rows, err := all(ctx, tx.conn, func(r row) ([]any, error) {
		var id string
		var number int
		err := r.Scan(&id, &number)
		return []any{id, number, micros(tx.now), nil, 0, why, nil}, err
	}, `UPDATE webhook_deliveries SET status = 'failed', attempts = attempts + 1 WHERE $1 = '' AND status IN ('waiting', 'pending') AND id `+tx.dialect.among+` RETURNING id, attempts`,
		"", tx.dialect.texts(ids))
	if err != nil {
		return 0, err
	}
	return len(rows), inserts(ctx, tx, `INSERT INTO webhook_attempts (delivery_id, number, at, status, duration_ms, error, answer) VALUES`, ``, rows)
}
