-- Deleted flags and loggers kept all their texts. Of a deleted logger only its key is kept, and only if it was promoted
-- once: its cascade does not run again.
DELETE FROM flags WHERE deleted_at IS NOT NULL;
DELETE FROM loggers WHERE deleted_at IS NOT NULL AND NOT cascaded;
UPDATE loggers SET name = '', level = NULL, level_expires_at = NULL, environments = '{}', search = '' WHERE deleted_at IS NOT NULL;
CREATE INDEX loggers_deleted ON loggers (account_id, deleted_at, key) WHERE deleted_at IS NOT NULL;

-- Metrics by the hour, beside those by the minute, which are kept for a shorter time.
CREATE TABLE metric_hours (
	account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
	hour       bigint NOT NULL,
	name       text COLLATE "C" NOT NULL,
	unit       text COLLATE "C" NOT NULL,
	dimensions text COLLATE "C" NOT NULL, -- JSON object, members sorted
	samples    bigint NOT NULL,
	sum        double precision NOT NULL,
	minimum    double precision NOT NULL,
	maximum    double precision NOT NULL,
	PRIMARY KEY (account_id, hour, name, unit, dimensions)
);

INSERT INTO metric_hours (account_id, hour, name, unit, dimensions, samples, sum, minimum, maximum)
	SELECT account_id, minute - minute % 3600000000, name, unit, dimensions, sum(samples), sum(sum), min(minimum), max(maximum)
	FROM metric_minutes GROUP BY 1, 2, 3, 4, 5;
