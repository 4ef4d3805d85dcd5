package store

import (
	"context"
	"time"
)

// ClockOffset returns how far the clock of a PostgreSQL server is ahead of this machine's, give or take a round trip. SQLite
// has no clock of its own.
func (db *DB) ClockOffset(ctx context.Context) (time.Duration, error) {
	if db.dialect.name == "sqlite" {
		return 0, nil
	}
	before := time.Now()
	micros, err := fetch(ctx, db, forDecisions, func(tx *ReadTx) (int, error) {
		return scalar(ctx, tx.conn, scanInt, `SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint`)
	})
	if err != nil {
		return 0, err
	}
	middle := before.Add(time.Since(before) / 2)
	return time.UnixMicro(int64(micros)).Sub(middle), nil
}
