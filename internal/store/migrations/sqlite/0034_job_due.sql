-- When jobs fire is in a table of its own, because on PostgreSQL a change of jobs writes all its indexes. Triggers keep it.

CREATE TABLE job_due (
	next_run_at INTEGER NOT NULL,
	uid         TEXT NOT NULL,
	PRIMARY KEY (next_run_at, uid)
) STRICT, WITHOUT ROWID;

INSERT INTO job_due (next_run_at, uid) SELECT next_run_at, uid FROM jobs WHERE next_run_at IS NOT NULL;
DROP INDEX jobs_due;

CREATE TRIGGER job_due_inserted AFTER INSERT ON jobs WHEN NEW.next_run_at IS NOT NULL BEGIN
	INSERT INTO job_due (next_run_at, uid) VALUES (NEW.next_run_at, NEW.uid);
	END;

CREATE TRIGGER job_due_updated AFTER UPDATE OF next_run_at ON jobs WHEN OLD.next_run_at IS NOT NEW.next_run_at BEGIN
	DELETE FROM job_due WHERE next_run_at = OLD.next_run_at AND uid = OLD.uid;
	INSERT INTO job_due (next_run_at, uid) SELECT NEW.next_run_at, NEW.uid WHERE NEW.next_run_at IS NOT NULL;
	END;

CREATE TRIGGER job_due_deleted AFTER DELETE ON jobs WHEN OLD.next_run_at IS NOT NULL BEGIN
	DELETE FROM job_due WHERE next_run_at = OLD.next_run_at AND uid = OLD.uid;
	END;
