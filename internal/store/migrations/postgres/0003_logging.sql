-- Loggers and log groups, which share their keys and so their table, and where loggers are seen.

CREATE TABLE loggers (
	account_id       text COLLATE "C" NOT NULL REFERENCES accounts (id),
	key              text COLLATE "C" NOT NULL,
	kind             text COLLATE "C" NOT NULL, -- logger or log_group
	name             text COLLATE "C" NOT NULL,
	level            text COLLATE "C", -- null: inherits
	level_expires_at bigint,
	environments     text COLLATE "C" NOT NULL, -- JSON object
	group_key        text COLLATE "C",
	managed          boolean NOT NULL,
	cascaded         boolean NOT NULL DEFAULT false, -- was promoted once, for ever
	next_expiry      bigint, -- of the base level and all overrides
	search           text COLLATE "C" NOT NULL,
	deleted_at       bigint,
	created_at       bigint NOT NULL,
	updated_at       bigint NOT NULL,
	PRIMARY KEY (account_id, key)
);

CREATE INDEX loggers_by_kind ON loggers (account_id, kind, key) WHERE deleted_at IS NULL;
CREATE INDEX loggers_by_state ON loggers (account_id, kind, managed, key) WHERE deleted_at IS NULL;
CREATE INDEX loggers_by_group ON loggers (account_id, group_key, key) WHERE group_key IS NOT NULL;
CREATE INDEX loggers_by_expiry ON loggers (next_expiry) WHERE next_expiry IS NOT NULL;

CREATE TABLE logger_sources (
	id             text COLLATE "C" PRIMARY KEY, -- derived from account, logger, service and environment
	account_id     text COLLATE "C" NOT NULL REFERENCES accounts (id),
	logger         text COLLATE "C" NOT NULL,
	service        text COLLATE "C" NOT NULL,
	environment    text COLLATE "C" NOT NULL,
	level          text COLLATE "C",
	resolved_level text COLLATE "C" NOT NULL,
	first_observed bigint NOT NULL,
	last_seen      bigint NOT NULL,
	created_at     bigint NOT NULL,
	updated_at     bigint NOT NULL
);

CREATE INDEX logger_sources_by_logger ON logger_sources (account_id, logger, last_seen DESC, id, environment, resolved_level);
CREATE INDEX logger_sources_by_sighting ON logger_sources (account_id, last_seen DESC, id);
CREATE INDEX logger_sources_by_service ON logger_sources (account_id, service, logger);
