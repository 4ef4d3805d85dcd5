-- Scheduled jobs, what they send, their runs, what accounts have used, and the nodes that execute runs.

CREATE TABLE jobs (
	uid         TEXT PRIMARY KEY,
	account_id  TEXT NOT NULL REFERENCES accounts (id),
	key         TEXT NOT NULL,
	name        TEXT NOT NULL,
	description TEXT,
	enabled     INTEGER NOT NULL,
	schedule    TEXT NOT NULL,
	request_id  TEXT NOT NULL, -- of job_requests
	lane        TEXT NOT NULL, -- account and host of the request
	version     INTEGER NOT NULL,
	search      TEXT NOT NULL,
	next_run_at INTEGER, -- null: does not fire
	created_at  INTEGER NOT NULL,
	updated_at  INTEGER NOT NULL,
	deleted_at  INTEGER
) STRICT;

CREATE UNIQUE INDEX jobs_by_key ON jobs (account_id, key) WHERE deleted_at IS NULL;
CREATE INDEX jobs_by_age ON jobs (account_id, created_at, key) WHERE deleted_at IS NULL;
CREATE INDEX jobs_due ON jobs (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE INDEX jobs_deleted ON jobs (deleted_at) WHERE deleted_at IS NOT NULL;

-- One row for every configuration that a job has had; runs refer to the one they used.
CREATE TABLE job_requests (
	id            TEXT PRIMARY KEY,
	job_uid       TEXT NOT NULL REFERENCES jobs (uid),
	sealed        BLOB NOT NULL, -- the whole configuration
	bytes         INTEGER NOT NULL, -- of the configuration as it is written
	superseded_at INTEGER, -- null: the job's own
	created_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX job_requests_by_job ON job_requests (job_uid);
CREATE INDEX job_requests_superseded ON job_requests (superseded_at) WHERE superseded_at IS NOT NULL;

-- A run's id is a UUIDv7: runs sort by age. No index mentions lease or result, which change most.
CREATE TABLE runs (
	id             TEXT PRIMARY KEY,
	account_id     TEXT NOT NULL,
	job_uid        TEXT NOT NULL,
	job_key        TEXT NOT NULL,
	lane           TEXT NOT NULL,
	job_version    INTEGER,
	request_id     TEXT,
	trigger        TEXT NOT NULL,
	rerun_of       TEXT,
	scheduled_for  INTEGER,
	status         TEXT NOT NULL,
	failure_reason TEXT,
	error          TEXT,
	lease          TEXT, -- the boot of the worker that claimed it
	result         TEXT, -- JSON, without a body that is in run_bodies
	created_at     INTEGER NOT NULL,
	started_at     INTEGER,
	finished_at    INTEGER
) STRICT;

CREATE UNIQUE INDEX runs_once ON runs (job_uid, scheduled_for) WHERE scheduled_for IS NOT NULL;
CREATE INDEX runs_by_account ON runs (account_id, id);
CREATE INDEX runs_by_job ON runs (account_id, job_key, id);
CREATE INDEX runs_pending ON runs (lane, id) WHERE status = 'PENDING';
CREATE INDEX runs_pending_by_job ON runs (job_uid) WHERE status = 'PENDING';
CREATE INDEX runs_running ON runs (id) WHERE status = 'RUNNING';
CREATE INDEX runs_unusual ON runs (account_id, status, id) WHERE status IN ('FAILED', 'CANCELED');
CREATE INDEX runs_by_hand ON runs (account_id, trigger, id) WHERE trigger <> 'SCHEDULE';

CREATE TABLE run_bodies (
	run_id   TEXT PRIMARY KEY,
	encoding TEXT NOT NULL, -- raw or deflate
	body     BLOB NOT NULL
) STRICT;

CREATE TABLE job_usage (
	account_id TEXT NOT NULL REFERENCES accounts (id),
	period     TEXT NOT NULL, -- YYYY-MM
	used       INTEGER NOT NULL,
	PRIMARY KEY (account_id, period)
) STRICT;

CREATE TABLE worker_nodes (
	boot TEXT PRIMARY KEY,
	node TEXT NOT NULL, -- the same after a restart
	beat INTEGER NOT NULL -- grows while the node lives
) STRICT;
