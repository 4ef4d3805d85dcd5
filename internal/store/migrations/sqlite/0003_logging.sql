-- Loggers and log groups, which share their keys and so their table, and where loggers are seen.

CREATE TABLE loggers (
	account_id       TEXT NOT NULL REFERENCES accounts (id),
	key              TEXT NOT NULL,
	kind             TEXT NOT NULL, -- logger or log_group
	name             TEXT NOT NULL,
	level            TEXT, -- null: inherits
	level_expires_at INTEGER,
	environments     TEXT NOT NULL, -- JSON object
	group_key        TEXT,
	managed          INTEGER NOT NULL,
	cascaded         INTEGER NOT NULL DEFAULT 0, -- was promoted once, for ever
	next_expiry      INTEGER, -- of the base level and all overrides
	search           TEXT NOT NULL,
	deleted_at       INTEGER,
	created_at       INTEGER NOT NULL,
	updated_at       INTEGER NOT NULL,
	PRIMARY KEY (account_id, key)
) STRICT;

CREATE INDEX loggers_by_kind ON loggers (account_id, kind, key) WHERE deleted_at IS NULL;
CREATE INDEX loggers_by_state ON loggers (account_id, kind, managed, key) WHERE deleted_at IS NULL;
CREATE INDEX loggers_by_group ON loggers (account_id, group_key, key) WHERE group_key IS NOT NULL;
CREATE INDEX loggers_by_expiry ON loggers (next_expiry) WHERE next_expiry IS NOT NULL;

CREATE TABLE logger_sources (
	id             TEXT PRIMARY KEY, -- derived from account, logger, service and environment
	account_id     TEXT NOT NULL REFERENCES accounts (id),
	logger         TEXT NOT NULL,
	service        TEXT NOT NULL,
	environment    TEXT NOT NULL,
	level          TEXT,
	resolved_level TEXT NOT NULL,
	first_observed INTEGER NOT NULL,
	last_seen      INTEGER NOT NULL,
	created_at     INTEGER NOT NULL,
	updated_at     INTEGER NOT NULL
) STRICT;

CREATE INDEX logger_sources_by_logger ON logger_sources (account_id, logger, last_seen DESC, id, environment, resolved_level);
CREATE INDEX logger_sources_by_sighting ON logger_sources (account_id, last_seen DESC, id);
CREATE INDEX logger_sources_by_service ON logger_sources (account_id, service, logger);
