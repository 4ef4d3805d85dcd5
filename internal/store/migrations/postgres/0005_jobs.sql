-- Scheduled jobs, what they send, their runs, what accounts have used, and the nodes that execute runs.

CREATE TABLE jobs (
	uid         text COLLATE "C" PRIMARY KEY,
	account_id  text COLLATE "C" NOT NULL REFERENCES accounts (id),
	key         text COLLATE "C" NOT NULL,
	name        text COLLATE "C" NOT NULL,
	description text COLLATE "C",
	enabled     boolean NOT NULL,
	schedule    text COLLATE "C" NOT NULL,
	request_id  text COLLATE "C" NOT NULL, -- of job_requests
	lane        text COLLATE "C" NOT NULL, -- account and host of the request
	version     bigint NOT NULL,
	search      text COLLATE "C" NOT NULL,
	next_run_at bigint, -- null: does not fire
	created_at  bigint NOT NULL,
	updated_at  bigint NOT NULL,
	deleted_at  bigint
);

CREATE UNIQUE INDEX jobs_by_key ON jobs (account_id, key) WHERE deleted_at IS NULL;
CREATE INDEX jobs_by_age ON jobs (account_id, created_at, key) WHERE deleted_at IS NULL;
CREATE INDEX jobs_due ON jobs (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE INDEX jobs_deleted ON jobs (deleted_at) WHERE deleted_at IS NOT NULL;

-- One row for every configuration that a job has had; runs refer to the one they used.
CREATE TABLE job_requests (
	id            text COLLATE "C" PRIMARY KEY,
	job_uid       text COLLATE "C" NOT NULL REFERENCES jobs (uid),
	sealed        bytea NOT NULL, -- the whole configuration
	bytes         bigint NOT NULL, -- of the configuration as it is written
	superseded_at bigint, -- null: the job's own
	created_at    bigint NOT NULL
);

CREATE INDEX job_requests_by_job ON job_requests (job_uid);
CREATE INDEX job_requests_superseded ON job_requests (superseded_at) WHERE superseded_at IS NOT NULL;

-- A run's id is a UUIDv7: runs sort by age. No index mentions lease or result, which change most.
CREATE TABLE runs (
	id             text COLLATE "C" PRIMARY KEY,
	account_id     text COLLATE "C" NOT NULL,
	job_uid        text COLLATE "C" NOT NULL,
	job_key        text COLLATE "C" NOT NULL,
	lane           text COLLATE "C" NOT NULL,
	job_version    bigint,
	request_id     text COLLATE "C",
	trigger        text COLLATE "C" NOT NULL,
	rerun_of       text COLLATE "C",
	scheduled_for  bigint,
	status         text COLLATE "C" NOT NULL,
	failure_reason text COLLATE "C",
	error          text COLLATE "C",
	lease          text COLLATE "C", -- the boot of the worker that claimed it
	result         text COLLATE "C", -- JSON, without a body that is in run_bodies
	created_at     bigint NOT NULL,
	started_at     bigint,
	finished_at    bigint
);

CREATE UNIQUE INDEX runs_once ON runs (job_uid, scheduled_for) WHERE scheduled_for IS NOT NULL;
CREATE INDEX runs_by_account ON runs (account_id, id);
CREATE INDEX runs_by_job ON runs (account_id, job_key, id);
CREATE INDEX runs_pending ON runs (lane, id) WHERE status = 'PENDING';
CREATE INDEX runs_pending_by_job ON runs (job_uid) WHERE status = 'PENDING';
CREATE INDEX runs_running ON runs (id) WHERE status = 'RUNNING';
CREATE INDEX runs_unusual ON runs (account_id, status, id) WHERE status IN ('FAILED', 'CANCELED');
CREATE INDEX runs_by_hand ON runs (account_id, trigger, id) WHERE trigger <> 'SCHEDULE';

CREATE TABLE run_bodies (
	run_id   text COLLATE "C" PRIMARY KEY,
	encoding text COLLATE "C" NOT NULL, -- raw or deflate
	body     bytea NOT NULL
);

CREATE TABLE job_usage (
	account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
	period     text COLLATE "C" NOT NULL, -- YYYY-MM
	used       bigint NOT NULL,
	PRIMARY KEY (account_id, period)
);

CREATE TABLE worker_nodes (
	boot text COLLATE "C" PRIMARY KEY,
	node text COLLATE "C" NOT NULL, -- the same after a restart
	beat bigint NOT NULL -- grows while the node lives
);
