-- When a managed logger was last released or deleted: programs that read levels from a file are told for a day.
ALTER TABLE loggers ADD COLUMN released_at bigint;
-- The name of a deleted logger in its case, for the same day.
ALTER TABLE loggers ADD COLUMN spelling text COLLATE "C";

CREATE INDEX loggers_released ON loggers (account_id, released_at) WHERE released_at IS NOT NULL;

-- The name as the service reported it, if that is not the normalized name.
ALTER TABLE logger_sources ADD COLUMN spelling text COLLATE "C" NOT NULL DEFAULT '';

CREATE INDEX logger_sources_spelled ON logger_sources (account_id, logger, spelling) WHERE spelling <> '';

-- The Last-Modified of the account's level files, in seconds. It grows with every change of a logger or group.
ALTER TABLE accounts ADD COLUMN levels_at bigint NOT NULL DEFAULT 0;
