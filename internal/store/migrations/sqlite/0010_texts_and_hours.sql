-- Deleted flags and loggers kept all their texts. Of a deleted logger only its key is kept, and only if it was promoted
-- once: its cascade does not run again.
DELETE FROM flags WHERE deleted_at IS NOT NULL;
DELETE FROM loggers WHERE deleted_at IS NOT NULL AND NOT cascaded;
UPDATE loggers SET name = '', level = NULL, level_expires_at = NULL, environments = '{}', search = '' WHERE deleted_at IS NOT NULL;
CREATE INDEX loggers_deleted ON loggers (account_id, deleted_at, key) WHERE deleted_at IS NOT NULL;

-- Metrics by the hour, beside those by the minute, which are kept for a shorter time.
CREATE TABLE metric_hours (
	account_id TEXT NOT NULL REFERENCES accounts (id),
	hour       INTEGER NOT NULL,
	name       TEXT NOT NULL,
	unit       TEXT NOT NULL,
	dimensions TEXT NOT NULL, -- JSON object, members sorted
	samples    INTEGER NOT NULL,
	sum        REAL NOT NULL,
	minimum    REAL NOT NULL,
	maximum    REAL NOT NULL,
	PRIMARY KEY (account_id, hour, name, unit, dimensions)
) STRICT, WITHOUT ROWID;

INSERT INTO metric_hours (account_id, hour, name, unit, dimensions, samples, sum, minimum, maximum)
	SELECT account_id, minute - minute % 3600000000, name, unit, dimensions, sum(samples), sum(sum), min(minimum), max(maximum)
	FROM metric_minutes GROUP BY 1, 2, 3, 4, 5;
