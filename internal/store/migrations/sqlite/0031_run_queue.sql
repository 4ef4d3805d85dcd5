-- Runs are in two tables. A run that waits or runs is in run_queue, whose rows are small and whose indexes no claim changes.
-- When it ends, it moves to run_history, which is written once. The view runs has both; its columns have the same types in
-- both, because otherwise SQLite would not search the indexes of the tables.

ALTER TABLE runs RENAME TO run_history;
DROP INDEX runs_pending;
DROP INDEX runs_pending_by_job;
DROP INDEX runs_pending_by_account;
DROP INDEX runs_running;
DROP INDEX runs_later;

-- A claim sets job_version, request_id, lease and started_at. On PostgreSQL no index mentions status or lease. On SQLite only
-- indexes that mention a column are written, so one does, and claims do not read running runs.
CREATE TABLE run_queue (
	id            TEXT PRIMARY KEY,
	account_id    TEXT NOT NULL,
	job_uid       TEXT NOT NULL,
	job_key       TEXT NOT NULL,
	lane          TEXT NOT NULL,
	trigger       TEXT NOT NULL,
	rerun_of      TEXT,
	scheduled_for INTEGER,
	created_at    INTEGER NOT NULL,
	attempt       INTEGER NOT NULL DEFAULT 1,
	not_before    INTEGER,
	due_at        INTEGER,
	status        TEXT NOT NULL, -- PENDING or RUNNING
	job_version   INTEGER,
	request_id    TEXT,
	lease         TEXT, -- the boot of the worker that claimed it
	started_at    INTEGER
) STRICT;

INSERT INTO run_queue (id, account_id, job_uid, job_key, lane, job_version, request_id, trigger, rerun_of, scheduled_for, created_at, started_at, attempt, not_before, due_at, status, lease)
	SELECT id, account_id, job_uid, job_key, lane, job_version, request_id, trigger, rerun_of, scheduled_for, created_at, started_at, attempt, not_before, due_at, status, lease
	FROM run_history WHERE status IN ('PENDING', 'RUNNING');
DELETE FROM run_history WHERE status IN ('PENDING', 'RUNNING');

CREATE INDEX run_queue_by_lane ON run_queue (lane, id) WHERE status = 'PENDING';
CREATE INDEX run_queue_by_account ON run_queue (account_id, id);
CREATE UNIQUE INDEX run_queue_once ON run_queue (job_uid, scheduled_for);
CREATE INDEX run_queue_later ON run_queue (not_before) WHERE lane = '~later';

CREATE VIEW runs AS
	SELECT TRUE AS queued, id, account_id, job_uid, job_key, lane, job_version, request_id, trigger, rerun_of, scheduled_for, created_at, started_at, attempt, not_before, due_at,
		status, lease, CAST(NULL AS TEXT) AS failure_reason, CAST(NULL AS TEXT) AS error, CAST(NULL AS TEXT) AS result,
		CAST(NULL AS INTEGER) AS finished_at, CAST(FALSE AS INTEGER) AS retried
	FROM run_queue
	UNION ALL
	SELECT FALSE, id, account_id, job_uid, job_key, lane, job_version, request_id, trigger, rerun_of, scheduled_for, created_at, started_at, attempt, not_before, due_at,
		status, CAST(NULL AS TEXT), failure_reason, error, result, finished_at, retried
	FROM run_history;
