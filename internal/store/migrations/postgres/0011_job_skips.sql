-- Jobs show the last instant that they did not fire for, because too many runs of the account were pending.

ALTER TABLE jobs ADD COLUMN skipped_at bigint;
