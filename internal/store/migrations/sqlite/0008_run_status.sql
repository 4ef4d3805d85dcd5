-- Lists of runs by status are read from an index in their order, whatever the status. RUNNING ones are few, and workers read
-- them all by their lease.

CREATE INDEX runs_pending_by_account ON runs (account_id, id) WHERE status = 'PENDING';
DROP INDEX runs_running;
CREATE INDEX runs_running ON runs (account_id, id) WHERE status = 'RUNNING';
DROP INDEX runs_unusual;
CREATE INDEX runs_ended ON runs (account_id, status, id) WHERE status IN ('SUCCEEDED', 'FAILED', 'CANCELED');
