package store

import "context"

// total names a sum that is kept up to date, so that limits need no counting.
type total string

const (
	enabledJobs total = "enabled jobs"
	storedJobs  total = "jobs"
	jobBytes    total = "job configuration bytes"
	configBytes total = "config bytes"
)

func (tx *ReadTx) total(ctx context.Context, account string, what total) (int, error) {
	return scalar(ctx, tx.conn, scanInt,
		`SELECT COALESCE(max(amount), 0) FROM account_totals WHERE account_id = $1 AND what = $2`, account, string(what))
}

func (tx *Tx) count(ctx context.Context, account string, what total, more int) error {
	return tx.run(ctx, `INSERT INTO account_totals (account_id, what, amount) VALUES ($1, $2, $3)
		ON CONFLICT (account_id, what) DO UPDATE SET amount = account_totals.amount + excluded.amount`, account, string(what), more)
}
