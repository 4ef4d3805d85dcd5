-- Lists of runs by status are read from an index in their order, whatever the status. A condition with = costs far less
-- to check at every write than one with IN. Workers read all RUNNING ones, whichever columns that index has.

CREATE INDEX runs_pending_by_account ON runs (account_id, id) WHERE status = 'PENDING';
DROP INDEX runs_running;
CREATE INDEX runs_running ON runs (account_id, id) WHERE status = 'RUNNING';
CREATE INDEX runs_succeeded ON runs (account_id, id) WHERE status = 'SUCCEEDED';
