-- Runs are in two tables. A run that waits or runs is in run_queue, whose rows are small and whose indexes no claim changes.
-- When it ends, it moves to run_history, which is written once. The view runs has both.

ALTER TABLE runs RENAME TO run_history;
DROP INDEX runs_pending;
DROP INDEX runs_pending_by_job;
DROP INDEX runs_pending_by_account;
DROP INDEX runs_running;
DROP INDEX runs_later;

-- A claim sets job_version, request_id, lease and started_at. No index mentions status or lease, and pages keep
-- space for the new version of each of their rows.
CREATE TABLE run_queue (
	id            text COLLATE "C" PRIMARY KEY,
	account_id    text COLLATE "C" NOT NULL,
	job_uid       text COLLATE "C" NOT NULL,
	job_key       text COLLATE "C" NOT NULL,
	lane          text COLLATE "C" NOT NULL,
	trigger       text COLLATE "C" NOT NULL,
	rerun_of      text COLLATE "C",
	scheduled_for bigint,
	created_at    bigint NOT NULL,
	attempt       bigint NOT NULL DEFAULT 1,
	not_before    bigint,
	due_at        bigint,
	status        text COLLATE "C" NOT NULL, -- PENDING or RUNNING
	job_version   bigint,
	request_id    text COLLATE "C",
	lease         text COLLATE "C", -- the boot of the worker that claimed it
	started_at    bigint
) WITH (fillfactor = 40, autovacuum_vacuum_cost_delay = 0);

INSERT INTO run_queue (id, account_id, job_uid, job_key, lane, job_version, request_id, trigger, rerun_of, scheduled_for, created_at, started_at, attempt, not_before, due_at, status, lease)
	SELECT id, account_id, job_uid, job_key, lane, job_version, request_id, trigger, rerun_of, scheduled_for, created_at, started_at, attempt, not_before, due_at, status, lease
	FROM run_history WHERE status IN ('PENDING', 'RUNNING');
DELETE FROM run_history WHERE status IN ('PENDING', 'RUNNING');

CREATE INDEX run_queue_by_lane ON run_queue (lane, id);
CREATE INDEX run_queue_by_account ON run_queue (account_id, id);
CREATE UNIQUE INDEX run_queue_once ON run_queue (job_uid, scheduled_for);
CREATE INDEX run_queue_later ON run_queue (not_before) WHERE lane = '~later';

CREATE VIEW runs AS
	SELECT TRUE AS queued, id, account_id, job_uid, job_key, lane, job_version, request_id, trigger, rerun_of, scheduled_for, created_at, started_at, attempt, not_before, due_at,
		status, lease, NULL::text COLLATE "C" AS failure_reason, NULL::text COLLATE "C" AS error, NULL::text COLLATE "C" AS result,
		NULL::bigint AS finished_at, FALSE AS retried
	FROM run_queue
	UNION ALL
	SELECT FALSE, id, account_id, job_uid, job_key, lane, job_version, request_id, trigger, rerun_of, scheduled_for, created_at, started_at, attempt, not_before, due_at,
		status, NULL::text COLLATE "C", failure_reason, error, result, finished_at, retried
	FROM run_history;

-- Nodes of earlier versions read and write the view while they are replaced. A write that finds a run changed does nothing,
-- as the conditions of their statements want it.
CREATE FUNCTION write_run() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF TG_OP = 'DELETE' THEN
			DELETE FROM run_history WHERE id = OLD.id;
			RETURN OLD;
		ELSIF TG_OP = 'INSERT' THEN
			INSERT INTO run_queue (id, account_id, job_uid, job_key, lane, job_version, request_id, trigger, rerun_of, scheduled_for, created_at, started_at, attempt, not_before, due_at, status)
				SELECT NEW.id, NEW.account_id, NEW.job_uid, NEW.job_key, NEW.lane, NEW.job_version, NEW.request_id, NEW.trigger, NEW.rerun_of, NEW.scheduled_for, NEW.created_at, NEW.started_at, NEW.attempt, NEW.not_before, NEW.due_at, NEW.status
				WHERE NOT EXISTS (SELECT 1 FROM run_history WHERE job_uid = NEW.job_uid AND scheduled_for = NEW.scheduled_for)
				ON CONFLICT DO NOTHING;
		ELSIF NOT OLD.queued THEN
			UPDATE run_history SET retried = NEW.retried WHERE id = OLD.id;
		ELSIF NEW.status IN ('PENDING', 'RUNNING') THEN
			UPDATE run_queue SET lane = NEW.lane, status = NEW.status, job_version = NEW.job_version, request_id = NEW.request_id,
				lease = NEW.lease, started_at = NEW.started_at WHERE id = OLD.id AND status = OLD.status AND lease IS NOT DISTINCT FROM OLD.lease;
		ELSE
			DELETE FROM run_queue WHERE id = OLD.id AND status = OLD.status AND lease IS NOT DISTINCT FROM OLD.lease;
			IF FOUND THEN
				INSERT INTO run_history (id, account_id, job_uid, job_key, lane, job_version, request_id, trigger, rerun_of, scheduled_for, created_at, started_at, attempt, not_before, due_at, status, failure_reason, error, result, finished_at)
					VALUES (NEW.id, NEW.account_id, NEW.job_uid, NEW.job_key, NEW.lane, NEW.job_version, NEW.request_id, NEW.trigger, NEW.rerun_of, NEW.scheduled_for, NEW.created_at, NEW.started_at, NEW.attempt, NEW.not_before, NEW.due_at, NEW.status, NEW.failure_reason, NEW.error, NEW.result, NEW.finished_at);
			END IF;
		END IF;
		IF FOUND THEN
			RETURN NEW;
		END IF;
		RETURN NULL;
	END $$;

CREATE TRIGGER write_run INSTEAD OF INSERT OR UPDATE OR DELETE ON runs FOR EACH ROW EXECUTE FUNCTION write_run();
