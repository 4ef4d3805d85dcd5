-- When jobs fire is in a table of its own. A job changes next_run_at whenever it fires: while an index of jobs had that
-- column, each time wrote the whole row and an entry in every index of jobs.

CREATE TABLE job_due (
	next_run_at bigint NOT NULL,
	uid         text COLLATE "C" NOT NULL,
	PRIMARY KEY (next_run_at, uid)
) WITH (autovacuum_vacuum_cost_delay = 0);

INSERT INTO job_due (next_run_at, uid) SELECT next_run_at, uid FROM jobs WHERE next_run_at IS NOT NULL;
DROP INDEX jobs_due;

-- Half of each page is for the new versions of its rows: the jobs of a page often fire together.
ALTER TABLE jobs SET (fillfactor = 50);

-- Whatever writes jobs keeps job_due, so nodes of earlier versions do too. They look for due jobs in jobs.
CREATE FUNCTION write_job_due() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF TG_OP = 'UPDATE' AND OLD.next_run_at IS NOT NULL AND NEW.next_run_at IS NOT NULL THEN
			UPDATE job_due SET next_run_at = NEW.next_run_at WHERE next_run_at = OLD.next_run_at AND uid = OLD.uid;
			IF FOUND THEN
				RETURN NULL;
			END IF;
		END IF;
		IF TG_OP <> 'INSERT' AND OLD.next_run_at IS NOT NULL THEN
			DELETE FROM job_due WHERE next_run_at = OLD.next_run_at AND uid = OLD.uid;
		END IF;
		IF TG_OP <> 'DELETE' AND NEW.next_run_at IS NOT NULL THEN
			INSERT INTO job_due (next_run_at, uid) VALUES (NEW.next_run_at, NEW.uid);
		END IF;
		RETURN NULL;
	END $$;

CREATE TRIGGER job_due_inserted AFTER INSERT ON jobs FOR EACH ROW WHEN (NEW.next_run_at IS NOT NULL) EXECUTE FUNCTION write_job_due();
CREATE TRIGGER job_due_updated AFTER UPDATE OF next_run_at ON jobs FOR EACH ROW WHEN (OLD.next_run_at IS DISTINCT FROM NEW.next_run_at) EXECUTE FUNCTION write_job_due();
CREATE TRIGGER job_due_deleted AFTER DELETE ON jobs FOR EACH ROW WHEN (OLD.next_run_at IS NOT NULL) EXECUTE FUNCTION write_job_due();

-- The queue may be empty when PostgreSQL makes its statistics. By these, searching an id in any index that has ids costs nothing, and
-- it read all of run_queue_by_account for the ids of a few runs. Statements that search by account or lane say that it is not
-- empty, and others cannot use these indexes.
DROP INDEX run_queue_by_lane;
CREATE INDEX run_queue_by_lane ON run_queue (lane, id) WHERE lane <> '';
DROP INDEX run_queue_by_account;
CREATE INDEX run_queue_by_account ON run_queue (account_id, id) WHERE account_id <> '';
