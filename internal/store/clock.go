package store

import (
	"context"
	"time"
)

// The names of marks. A mark is an instant that the database remembers.
const (
	clockMark      = "clock"       // the newest time that a server on SQLite was sure of
	retentionMark  = "retention"   // when retention last ran
	catchingUpMark = "catching up" // when retention began to catch up after a gap; absent otherwise
)

// Clock returns the time of the PostgreSQL server. SQLite has no clock: there Clock returns the time that MarkClock
// stored last or, before the first mark, the time of the newest change or run. It is zero in a new database.
func (db *DB) Clock(ctx context.Context) (time.Time, error) {
	return fetch(ctx, db, forLoops, func(ctx context.Context, tx *ReadTx) (time.Time, error) {
		if tx.dialect.name == "postgres" {
			return scalar(ctx, tx.conn, scanTime, `SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint`)
		}
		marked, err := tx.mark(ctx, clockMark)
		if err != nil || marked != nil {
			return orZero(marked), err
		}
		return tx.newestTime(ctx)
	})
}

// newestTime returns when the newest change was made or the newest run was queued.
func (tx *ReadTx) newestTime(ctx context.Context) (time.Time, error) {
	changed, err := scalar(ctx, tx.conn, scanTimeOrNull,
		`SELECT max(changes.created_at) FROM accounts JOIN changes ON account_id = accounts.id AND seq = change_seq`)
	if err != nil {
		return time.Time{}, err
	}
	queued, err := scalar(ctx, tx.conn, scanTimeOrNull, `SELECT max(created_at) FROM (SELECT id, created_at FROM runs ORDER BY id DESC LIMIT 1) AS newest`)
	if newest := orZero(changed); err != nil || newest.After(orZero(queued)) {
		return newest, err
	}
	return orZero(queued), nil
}

// MarkClock stores a time that is known to be right. Clock returns it on SQLite.
func (db *DB) MarkClock(ctx context.Context, at time.Time) error {
	return db.write(ctx, writeOptions{priority: forObservations}, func(ctx context.Context, tx *Tx) error { return tx.setMark(ctx, clockMark, at) })
}

func (tx *ReadTx) mark(ctx context.Context, name string) (*time.Time, error) {
	return scalar(ctx, tx.conn, scanTimeOrNull, `SELECT max(at) FROM marks WHERE name = $1`, name)
}

func (tx *Tx) setMark(ctx context.Context, name string, at time.Time) error {
	return tx.run(ctx, `INSERT INTO marks (name, at) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET at = excluded.at`, name, micros(at))
}

func (tx *Tx) removeMark(ctx context.Context, name string) error {
	return tx.run(ctx, `DELETE FROM marks WHERE name = $1`, name)
}

func scanTime(r row) (at time.Time, err error) {
	err = r.Scan(asTime(&at))
	return at, err
}

func scanTimeOrNull(r row) (at *time.Time, err error) {
	err = r.Scan(asTimeOrNull(&at))
	return at, err
}

func orZero(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return *at
}
