package store

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/observations"
)

const (
	// retentionBatch bounds how long one transaction holds the writer.
	retentionBatch = 500
	// longestRun is how much longer a configuration is kept than its runs: a run may end after the limit.
	longestRun = time.Hour
)

// RemoveRuns removes finished runs queued before an instant and the rows that only they referred to, in small batches.
// It may run on several nodes at once and be interrupted anywhere. With a pace, it removes no more than the pace allows.
func (db *DB) RemoveRuns(ctx context.Context, before time.Time, pace *Pace) (removed int, err error) {
	if pace != nil {
		return db.removeRunsAt(ctx, before, pace)
	}
	removed, err = db.removeRunsWhere(ctx, "", before)
	if err != nil {
		return removed, err
	}
	return removed, db.removeUnused(ctx, before.Add(-longestRun))
}

// removeRunsAt removes finished runs of each account at a pace. Configurations stay, because other runs may refer to them.
func (db *DB) removeRunsAt(ctx context.Context, before time.Time, pace *Pace) (removed int, err error) {
	rows := agingRows{kind: "runs", column: "id", scan: scanIDTime, bound: atID, from: `run_history WHERE ` + inAccount}
	return db.removeAged(ctx, before, pace, rows, func(account string, before time.Time) (int, error) { return db.removeRunsWhere(ctx, account, before) })
}

// removeRunsWhere removes finished runs queued before an instant, of an account or, for "", of all.
func (db *DB) removeRunsWhere(ctx context.Context, account string, before time.Time) (removed int, err error) {
	limit := firstID(before)
	for after := ""; ; {
		runs, err := db.finishedRuns(ctx, account, after, limit)
		if err != nil || len(runs) == 0 {
			return removed, err
		}
		if err := db.removeRuns(ctx, runs); err != nil {
			return removed, err
		}
		after, removed = runs[len(runs)-1], removed+len(runs)
	}
}

// firstID returns a text that sorts before all ids made at an instant or later: ids begin with the time.
func firstID(at time.Time) string {
	var id uuid.UUID
	millis := min(max(at.UnixMilli(), 0), 1<<48-1) // what 48 bits hold
	for i := range 6 {
		id[i] = byte(millis >> (8 * (5 - i)))
	}
	return id.String()
}

// finishedRuns returns the next finished runs between two ids, of an account or, for "", of all.
func (db *DB) finishedRuns(ctx context.Context, account, after, before string) ([]string, error) {
	query, args := `SELECT id FROM run_history WHERE id > $1 AND id < $2`, []any{after, before, retentionBatch}
	if account != "" {
		query, args = query+` AND account_id = $4`, append(args, account)
	}
	return fetch(ctx, db, forObservations, func(ctx context.Context, tx *ReadTx) ([]string, error) {
		return all(ctx, tx.conn, scanString, query+` ORDER BY id LIMIT $3`, args...)
	})
}

func (db *DB) removeRuns(ctx context.Context, runs []string) error {
	return db.write(ctx, writeOptions{priority: forObservations}, func(ctx context.Context, tx *Tx) error {
		for _, statement := range []string{`DELETE FROM run_bodies WHERE $1 = '' AND run_id `, `DELETE FROM run_history WHERE $1 = '' AND id `} {
			if err := tx.run(ctx, statement+tx.dialect.among, "", tx.dialect.texts(runs)); err != nil {
				return err
			}
		}
		return nil
	})
}

// removeUnused removes configurations and deleted jobs that no run refers to, and the counts of skipped instants that
// belong to deleted jobs or to days whose runs were removed.
func (db *DB) removeUnused(ctx context.Context, before time.Time) error {
	for _, statement := range []string{
		`DELETE FROM job_requests WHERE id IN (SELECT id FROM job_requests WHERE superseded_at < $1 LIMIT $2) RETURNING id`,
		`DELETE FROM jobs WHERE uid IN (SELECT uid FROM jobs WHERE deleted_at < $1
			AND NOT EXISTS (SELECT 1 FROM job_requests r WHERE r.job_uid = jobs.uid) LIMIT $2) RETURNING uid`,
		`DELETE FROM job_skips WHERE job_uid IN (SELECT s.job_uid FROM job_skips s WHERE CAST($1 AS bigint) > 0
			AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.uid = s.job_uid) LIMIT $2) RETURNING job_uid`,
	} {
		if _, err := db.removeAll(ctx, statement, micros(before)); err != nil {
			return err
		}
	}
	_, err := db.removeAll(ctx, `DELETE FROM job_skips WHERE CAST($1 AS bigint) > 0 AND (job_uid, day) IN
		(SELECT job_uid, day FROM job_skips WHERE day < $3 LIMIT $2) RETURNING job_uid`, micros(before), before.UTC().Format(time.DateOnly))
	return err
}

// RemoveChanges removes changes made before an instant, in batches like RemoveRuns. It reads only the oldest.
func (db *DB) RemoveChanges(ctx context.Context, before time.Time, pace *Pace) (removed int, err error) {
	rows := agingRows{kind: "changes", from: `changes WHERE ` + inAccount, column: "created_at", scan: scanTime, bound: atMicros}
	return db.removeAged(ctx, before, pace, rows, func(account string, before time.Time) (int, error) { return db.removeChanges(ctx, account, before) })
}

// removeChanges removes an account's changes made before an instant, and corrects its history bytes. It locks the account
// before the rows, as trimHistory does.
func (db *DB) removeChanges(ctx context.Context, account string, before time.Time) (removed int, err error) {
	for {
		var batch []int
		err := db.write(ctx, writeOptions{priority: forObservations, account: account}, func(ctx context.Context, tx *Tx) (err error) {
			if batch, err = all(ctx, tx.conn, scanInt, `DELETE FROM changes WHERE account_id = $1 AND seq IN (SELECT seq FROM
				(SELECT seq, created_at FROM changes WHERE account_id = $1 ORDER BY seq LIMIT $3) AS oldest WHERE created_at < $2)
				RETURNING `+documentBytes, account, micros(before), retentionBatch); err != nil || len(batch) == 0 {
				return err
			}
			freed := 0
			for _, bytes := range batch {
				freed += bytes
			}
			return tx.run(ctx, `UPDATE accounts SET `+uncountHistory+` WHERE id = $1`, account, freed)
		})
		removed += len(batch)
		if err != nil || len(batch) < retentionBatch {
			return removed, err
		}
	}
}

// RemoveMetrics removes the metrics of a resolution before an instant, in batches like RemoveRuns.
func (db *DB) RemoveMetrics(ctx context.Context, by observations.Resolution, before time.Time, pace *Pace) (removed int, err error) {
	table, at := metricTable(by)
	rows := agingRows{kind: table, from: table + ` WHERE ` + inAccount, column: at, scan: scanTime, bound: atMicros}
	return db.removeAged(ctx, before, pace, rows, func(account string, before time.Time) (int, error) {
		return db.removeAll(ctx, `DELETE FROM `+table+` WHERE account_id = $3 AND (`+at+`, name, unit, dimensions) IN
			(SELECT `+at+`, name, unit, dimensions FROM `+table+` WHERE account_id = $3 AND `+at+` < $1 ORDER BY `+at+` LIMIT $2)
			RETURNING account_id`, micros(before), account)
	})
}

// ForgetLoggers removes the rows of deleted loggers, except the newest keep rows of each account. On PostgreSQL it
// may wait for a writer that creates a logger again. It then evaluates only the outer conditions again, so they
// repeat that the logger is deleted.
func (db *DB) ForgetLoggers(ctx context.Context, keep int) (removed int, err error) {
	crowded, err := db.accountIDs(ctx, `SELECT account_id FROM loggers WHERE deleted_at IS NOT NULL GROUP BY account_id HAVING count(*) > $1`, keep)
	if err != nil {
		return 0, err
	}
	return removeOfEach(crowded, func(account string) (int, error) {
		return db.removeAll(ctx, `DELETE FROM loggers WHERE account_id = $3 AND deleted_at IS NOT NULL AND key IN
			(SELECT key FROM loggers WHERE account_id = $3 AND deleted_at IS NOT NULL ORDER BY deleted_at DESC, key LIMIT $2 OFFSET $1)
			RETURNING account_id`, int64(keep), account)
	})
}

// removeAged removes rows of every account before an instant, or before an earlier instant that the pace allows. One statement
// finds the accounts that have such rows: a transaction for each account would take minutes with 100,000 of them.
func (db *DB) removeAged(ctx context.Context, before time.Time, pace *Pace, rows agingRows, remove func(account string, before time.Time) (int, error)) (removed int, err error) {
	hasOld := `EXISTS (SELECT 1 FROM ` + strings.Replace(rows.from, inAccount, `account_id = accounts.id`, 1) + ` AND ` + rows.column + ` < $1)`
	if pace != nil {
		if err := pace.keepNothing(ctx, rows.kind, `NOT `+hasOld, rows.bound(before)); err != nil {
			return 0, err
		}
	}
	old, err := db.accountIDs(ctx, `SELECT id FROM accounts WHERE `+hasOld, rows.bound(before))
	if err != nil {
		return 0, err
	}
	return removeOfEach(old, func(account string) (int, error) {
		allowed, err := pace.limit(ctx, account, rows, before)
		if err != nil {
			return 0, err
		}
		return remove(account, allowed)
	})
}

// accountIDs returns the ids of accounts that a query selects.
func (db *DB) accountIDs(ctx context.Context, query string, args ...any) ([]string, error) {
	return fetch(ctx, db, forObservations, func(ctx context.Context, tx *ReadTx) ([]string, error) {
		return all(ctx, tx.conn, scanString, query, args...)
	})
}

// removeOfEach calls remove for accounts and adds up the results.
func removeOfEach(accounts []string, remove func(account string) (int, error)) (removed int, err error) {
	for _, account := range accounts {
		count, err := remove(account)
		removed += count
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// removeAll repeats a statement until it removes less than a batch. Its arguments are limit, the batch size and more.
func (db *DB) removeAll(ctx context.Context, statement string, limit int64, more ...any) (removed int, err error) {
	for {
		var batch []string
		err := db.write(ctx, writeOptions{priority: forObservations}, func(ctx context.Context, tx *Tx) (err error) {
			batch, err = all(ctx, tx.conn, scanString, statement, append([]any{limit, retentionBatch}, more...)...)
			return err
		})
		removed += len(batch)
		if err != nil || len(batch) < retentionBatch {
			return removed, err
		}
	}
}
