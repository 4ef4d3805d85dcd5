package store

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
)

// A run is in run_queue until it ends, and then in run_history. The view runs has both: a statement that reads the view
// finds every run, in the state of one instant.

// ending holds SQL that selects rows of run_queue and describes how these runs end.
type ending struct {
	with, where            string // a further table or "", and the condition
	status, finished       string
	reason, detail, result string // "" is null
}

// canceled returns the ending of runs that are canceled at an instant. detail and at are SQL.
func canceled(detail, at, where string) ending {
	return ending{where: where, status: `'CANCELED'`, detail: detail, finished: notBeforeQueued(at)}
}

// historyColumns are the columns of run_history in the order of values.
const historyColumns = `id, account_id, job_uid, job_key, lane, job_version, request_id, trigger, rerun_of, scheduled_for, created_at, started_at,
	attempt, not_before, due_at, status, failure_reason, error, result, finished_at`

// values returns the values of historyColumns. An ended run has no lane.
func (e ending) values() string {
	text := func(expression string) string {
		if expression == "" {
			return `CAST(NULL AS text)`
		}
		return expression
	}
	return `run_queue.id, run_queue.account_id, run_queue.job_uid, run_queue.job_key, '', run_queue.job_version, run_queue.request_id, run_queue.trigger,
		run_queue.rerun_of, run_queue.scheduled_for, run_queue.created_at, run_queue.started_at, run_queue.attempt, run_queue.not_before, run_queue.due_at,
		` + e.status + `, ` + text(e.reason) + `, ` + text(e.detail) + `, ` + text(e.result) + `, ` + e.finished
}

// moveRuns returns dialect.move of PostgreSQL. Of two transactions that end one run, the second waits for the first and
// then finds no row.
func moveRuns(e ending) string {
	using := ""
	if e.with != "" {
		using = ` USING ` + e.with
	}
	return `WITH ended AS (DELETE FROM run_queue` + using + ` WHERE ` + e.where + ` RETURNING ` + e.values() + `)
		INSERT INTO run_history (` + historyColumns + `) SELECT * FROM ended RETURNING run_history.id || ` + isNoted
}

// copyRuns returns dialect.move of SQLite.
func copyRuns(e ending) string {
	from := ""
	if e.with != "" {
		from = e.with + ` CROSS JOIN `
	}
	return `INSERT INTO run_history (` + historyColumns + `) SELECT ` + e.values() + ` FROM ` + from + `run_queue WHERE ` + e.where + `
		RETURNING run_history.id || ` + isNoted
}

// end moves runs from the queue to the history. It returns their ids, and the ids of the runs that settle has to
// process.
func (tx *Tx) end(ctx context.Context, e ending, args ...any) (ended, attention []string, err error) {
	marked, err := all(ctx, tx.conn, scanString, tx.dialect.move(e), args...)
	if err != nil || len(marked) == 0 {
		return nil, nil, err
	}
	tx.wrote = true
	ended, attention = unnoted(marked)
	if tx.dialect.forgetMoved != "" {
		err = tx.run(ctx, tx.dialect.forgetMoved+tx.dialect.among, "", tx.dialect.texts(ended))
	}
	return ended, attention, err
}

// notBeforeQueued returns SQL for an instant, or for when the run was queued if that is later: a transaction may end a
// run that was queued after the transaction began.
func notBeforeQueued(instant string) string {
	return `CASE WHEN run_queue.created_at > ` + instant + ` THEN run_queue.created_at ELSE ` + instant + ` END`
}

// InsertRuns queues runs. A job never gets two runs for the same due time.
func (tx *Tx) InsertRuns(ctx context.Context, runs []jobs.Run) error {
	rows, scheduled := make([][]any, len(runs)), []string{}
	for i, r := range runs {
		rows[i] = []any{r.ID, r.Account, r.JobUID, r.JobKey, r.Lane, string(r.Trigger), r.RerunOf, microsOrNull(r.ScheduledFor),
			string(jobs.Pending), micros(r.CreatedAt), max(1, r.Attempt), microsOrNull(r.NotBefore), microsOrNull(r.DueAt)}
		if r.ScheduledFor != nil {
			scheduled = append(scheduled, r.ID)
		}
	}
	if err := tx.queueRuns(ctx, rows); err != nil || len(scheduled) == 0 {
		return err
	}
	// An index of the queue has refused runs for due times that have an unfinished run. Such a run may have ended
	// meanwhile, so the history is checked after the insert.
	return tx.run(ctx, `DELETE FROM run_queue WHERE $1 = '' AND EXISTS (SELECT 1 FROM run_history WHERE run_history.job_uid = run_queue.job_uid
		AND run_history.scheduled_for = run_queue.scheduled_for) AND run_queue.id `+tx.dialect.among, "", tx.dialect.texts(scheduled))
}

// queueRuns inserts rows of run_queue, except those whose instant another row has. On PostgreSQL arrays take less time than a
// placeholder for each value.
func (tx *Tx) queueRuns(ctx context.Context, rows [][]any) error {
	types := []string{"text", "text", "text", "text", "text", "text", "text", "bigint", "text", "bigint", "bigint", "bigint", "bigint"}
	for chunk := range tx.dialect.pieces(rows) {
		values, args := tx.dialect.rowsOf(types, chunk)
		if err := tx.run(ctx, `INSERT INTO run_queue (id, account_id, job_uid, job_key, lane, trigger, rerun_of, scheduled_for, status, created_at,
			attempt, not_before, due_at) SELECT * FROM `+values+` WHERE TRUE ON CONFLICT DO NOTHING`, args...); err != nil {
			return err
		}
	}
	return nil
}

// CancelRun cancels a run unless it has ended, and reports whether it did. detail is the run's error.
func (tx *Tx) CancelRun(ctx context.Context, account, id, detail string, at time.Time) (bool, error) {
	ended, _, err := tx.end(ctx, canceled("CAST($4 AS text)", "$3", `run_queue.account_id = $1 AND run_queue.id = $2`), account, id, micros(at), detail)
	if err != nil || len(ended) == 0 {
		return false, err
	}
	tx.notices = append(tx.notices, notice{runsChannel, id})
	return true, nil
}

const (
	// isLastRun is the condition that a row of run_history is the newest ended run of a row of jobs. An older job with the
	// same key has only older runs: if the newest run of the key is not this job's, this job has none. It orders by key
	// first so that PostgreSQL uses the index runs_by_job, as in nextOfLane.
	isLastRun = `run_history.job_uid = jobs.uid AND run_history.id = (SELECT r.id FROM run_history AS r WHERE r.account_id = jobs.account_id
		AND r.job_key >= jobs.key AND r.job_key <= jobs.key ORDER BY r.job_key DESC, r.id DESC LIMIT 1)`
	// isLastQueued is the condition that a row of run_queue is the newest one of a row of jobs. PostgreSQL would search
	// the maximum of a plain column in the index of ids, from its end and through the runs of all other jobs.
	isLastQueued = `run_queue.job_uid = jobs.uid AND run_queue.id = (SELECT max(q.id || '') FROM run_queue AS q WHERE q.job_uid = jobs.uid)`
	// lastStatus is SQL for the status of the newest run of a row of jobs.
	lastStatus = `(SELECT last.status FROM (SELECT run_queue.id, run_queue.status FROM run_queue WHERE ` + isLastQueued + `
		UNION ALL SELECT run_history.id, run_history.status FROM run_history WHERE ` + isLastRun + `) AS last ORDER BY last.id DESC LIMIT 1)`
)

// lastRuns returns a query for the newest run of jobs of account $1 in the queue, and the newest in the history. isListed is
// the condition that a column is in the list $2.
func lastRuns(isListed string) string {
	return `SELECT uid, run_queue.id, status, NULL, NULL, trigger, started_at, NULL, CASE WHEN failures > 0 THEN NULL ELSE ` + lastSuccess + ` END
		FROM jobs JOIN run_queue ON ` + isLastQueued + ` WHERE jobs.account_id = $1 AND uid ` + isListed + `
		UNION ALL SELECT uid, run_history.id, status, failure_reason, CASE WHEN failure_reason = 'NON_SUCCESS_STATUS' THEN result END, trigger, started_at, finished_at,
			CASE WHEN status = 'SUCCEEDED' THEN finished_at WHEN failures > 0 THEN NULL ELSE ` + lastSuccess + ` END
		FROM jobs JOIN run_history ON ` + isLastRun + ` WHERE jobs.account_id = $1 AND uid ` + isListed
}
