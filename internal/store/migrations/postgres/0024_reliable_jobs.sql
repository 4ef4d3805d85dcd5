-- The zone of a job's schedule; null is UTC.
ALTER TABLE jobs ADD COLUMN timezone text COLLATE "C";

-- What happens when runs overlap, and which failed runs are attempted again (JSON; null: none).
ALTER TABLE jobs ADD COLUMN overlap text COLLATE "C" NOT NULL DEFAULT 'allow';
ALTER TABLE jobs ADD COLUMN retry text COLLATE "C";

-- When the health of a job is an event (JSON; null: never), and the health itself. last_success_at may be an hour behind
-- the runs while the job is ok. late_for is the instant that made the job late; late_at is when to check for lateness.
ALTER TABLE jobs ADD COLUMN alerts text COLLATE "C"
	DEFAULT '{"after_failures":1,"recover_after":1,"late_after_seconds":null,"no_success_for_seconds":null,"remind_every_seconds":null}';
ALTER TABLE jobs ADD COLUMN health text COLLATE "C" NOT NULL DEFAULT 'new';
ALTER TABLE jobs ADD COLUMN health_since bigint; -- null: since the job was created
ALTER TABLE jobs ADD COLUMN failures bigint NOT NULL DEFAULT 0; -- final ones in a row
ALTER TABLE jobs ADD COLUMN successes bigint NOT NULL DEFAULT 0; -- in a row while it is failing
ALTER TABLE jobs ADD COLUMN last_success_at bigint;
ALTER TABLE jobs ADD COLUMN late_for bigint;
ALTER TABLE jobs ADD COLUMN late_at bigint;

CREATE INDEX jobs_unhealthy ON jobs (health, uid) WHERE health IN ('failing', 'late');
CREATE INDEX jobs_late ON jobs (late_at) WHERE late_at IS NOT NULL;

-- A recurring job that does not fire was disabled by a write; a one-off may have fired.
UPDATE jobs SET health = 'paused' WHERE enabled = FALSE AND schedule LIKE '% % % % %';

-- Attempts: the number of this one, when it may start, the instant of its chain, and whether another one followed.
ALTER TABLE runs ADD COLUMN attempt bigint NOT NULL DEFAULT 1;
ALTER TABLE runs ADD COLUMN not_before bigint;
ALTER TABLE runs ADD COLUMN due_at bigint;
ALTER TABLE runs ADD COLUMN retried boolean NOT NULL DEFAULT FALSE;

-- Pending runs that wait for their time are in a lane of their own, which no worker claims.
CREATE INDEX runs_later ON runs (not_before) WHERE status = 'PENDING' AND lane = '~later';

-- How many instants of a job made no run, by day in UTC.
CREATE TABLE job_skips (
	job_uid text COLLATE "C" NOT NULL,
	day     text COLLATE "C" NOT NULL, -- YYYY-MM-DD
	skipped bigint NOT NULL,
	PRIMARY KEY (job_uid, day)
);
