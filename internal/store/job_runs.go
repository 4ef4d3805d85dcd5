package store

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
)

const (
	finishedRunsQuery = `SELECT created_at / 86400000000 AS day, status, (finished_at - started_at) / 1000 AS took, count(*)
		FROM run_history WHERE account_id = $1 AND job_key = $2 AND job_uid = $3 AND id >= $4 AND created_at >= $5
		AND retried = FALSE GROUP BY day, status, took`
	// runHoursQuery has a limit, because an account may have millions of runs a day. Its range makes PostgreSQL use the
	// account's indexes, as in pendingRunsQuery.
	runHoursQuery = `SELECT created_at / 3600000000 AS hour, status, count(*) FROM (SELECT account_id, id, created_at, status FROM runs
		WHERE account_id <> '' AND account_id >= $1 AND account_id <= $1 AND id >= $2 AND created_at >= $3 ORDER BY account_id DESC, id DESC LIMIT $4) AS newest GROUP BY hour, status`
)

// addLastRuns adds the newest run of each job.
func (tx *ReadTx) addLastRuns(ctx context.Context, account string, list []jobs.Job) error {
	places, uids := make(map[string]int, len(list)), make([]string, len(list))
	for i, job := range list {
		places[job.UID], uids[i] = i, job.UID
	}
	if len(list) == 0 {
		return nil
	}
	add := func(r row) (uid string, err error) {
		var last jobs.LastRun
		var success *time.Time
		var result *string
		if err := r.Scan(&uid, &last.ID, &last.Status, &last.Reason, &result, &last.Trigger, asTimeOrNull(&last.StartedAt), asTimeOrNull(&last.FinishedAt), asTimeOrNull(&success)); err != nil {
			return "", err
		}
		if last.HTTPStatus, err = statusIn(result); err != nil {
			return "", err
		}
		job := &list[places[uid]]
		if job.Health.LastSuccessAt = later(job.Health.LastSuccessAt, success); job.LastRun == nil || job.LastRun.ID < last.ID {
			job.LastRun = &last
		}
		return uid, nil
	}
	_, err := all(ctx, tx.conn, add, lastRuns(tx.dialect.among), account, tx.dialect.texts(uids))
	return err
}

// statusIn returns the HTTP status in a stored result; nil for no result.
func statusIn(result *string) (*int, error) {
	if result == nil {
		return nil, nil //nolint:nilnil // no result has no status
	}
	var stored struct{ Status int }
	err := decode(*result, &stored)
	return &stored.Status, err
}

// pendingRunsQuery is completed by a list of accounts. Its range and order make PostgreSQL use one index. Otherwise, if
// one account has most of the runs, PostgreSQL would read all runs for each account without pending runs.
const pendingRunsQuery = `SELECT id, (SELECT count(*) FROM (SELECT 1 FROM run_queue WHERE status = 'PENDING'
	AND account_id <> '' AND account_id >= accounts.id AND account_id <= accounts.id ORDER BY account_id, id LIMIT $1) AS waiting) FROM accounts WHERE id `

// PendingRuns counts the pending runs of accounts, each up to a limit.
func (tx *ReadTx) PendingRuns(ctx context.Context, accounts []string, limit int) (map[string]int, error) {
	counts := make(map[string]int, len(accounts))
	_, err := all(ctx, tx.conn, scanInto(counts), pendingRunsQuery+tx.dialect.among, limit, tx.dialect.texts(accounts))
	return counts, err
}

// ExpireRuns cancels the oldest pending runs of an account that were queued before
// an instant, and counts them. It skips runs that others have locked.
func (tx *Tx) ExpireRuns(ctx context.Context, account string, before time.Time, detail string, limit int) (int, error) {
	oldest := tx.dialect.oneOf(`SELECT id FROM run_queue WHERE status = 'PENDING' AND account_id <> '' AND account_id >= $1 AND account_id <= $1 AND id < $2 AND created_at < $3
		AND (not_before IS NULL OR not_before < $3) ORDER BY account_id, id LIMIT $4` + tx.dialect.skipLocked)
	ended, _, err := tx.end(ctx, canceled("$5", "$6", `run_queue.id `+oldest), account, firstID(before.Add(idSlack)), micros(before), limit, detail, micros(tx.now))
	return len(ended), err
}

// FinishedRuns counts the finished runs of a job that were queued from an instant
// on, by day, status and duration.
func (tx *ReadTx) FinishedRuns(ctx context.Context, job jobs.Job, from time.Time) ([]jobs.RunCount, error) {
	return all(ctx, tx.conn, scanRunCount, finishedRunsQuery,
		job.Account, job.Key, job.UID, firstID(from.Add(-idSlack)), micros(from))
}

func scanRunCount(r row) (count jobs.RunCount, err error) {
	var day int64
	err = r.Scan(&day, &count.Status, &count.Millis, &count.Runs)
	count.Day = time.Unix(day*int64(24*time.Hour/time.Second), 0).UTC()
	return count, err
}

// RunHours counts the newest runs of an account that were queued from an instant on, up to a limit, by hour and status.
func (tx *ReadTx) RunHours(ctx context.Context, account string, from time.Time, limit int) ([]jobs.HourCount, error) {
	return all(ctx, tx.conn, func(r row) (count jobs.HourCount, err error) {
		var hour int64
		err = r.Scan(&hour, &count.Status, &count.Runs)
		count.Hour = time.Unix(hour*int64(time.Hour/time.Second), 0).UTC()
		return count, err
	}, runHoursQuery, account, firstID(from.Add(-idSlack)), micros(from), limit)
}
