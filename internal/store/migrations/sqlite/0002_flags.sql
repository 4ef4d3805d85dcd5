-- Feature flags, what their rules refer to, where they are declared, and when they were last evaluated.

CREATE TABLE flags (
	account_id     TEXT NOT NULL REFERENCES accounts (id),
	key            TEXT NOT NULL,
	name           TEXT NOT NULL,
	description    TEXT,
	type           TEXT NOT NULL,
	base           TEXT NOT NULL, -- JSON: the default
	choices        TEXT, -- JSON array, null: unconstrained
	managed        INTEGER NOT NULL,
	environments   TEXT NOT NULL, -- JSON object
	search         TEXT NOT NULL,
	last_evaluated INTEGER,
	deleted_at     INTEGER,
	created_at     INTEGER NOT NULL,
	updated_at     INTEGER NOT NULL,
	PRIMARY KEY (account_id, key)
) STRICT;

CREATE TABLE flag_references (
	account_id   TEXT NOT NULL REFERENCES accounts (id),
	context_type TEXT NOT NULL,
	context_key  TEXT NOT NULL, -- empty: the type as a whole
	flag         TEXT NOT NULL,
	PRIMARY KEY (account_id, context_type, context_key, flag)
) STRICT;

CREATE INDEX flag_references_by_flag ON flag_references (account_id, flag);

CREATE TABLE flag_sources (
	id               TEXT PRIMARY KEY,
	account_id       TEXT NOT NULL REFERENCES accounts (id),
	flag             TEXT NOT NULL,
	service          TEXT NOT NULL,
	environment      TEXT NOT NULL,
	declared_type    TEXT NOT NULL,
	declared_default TEXT NOT NULL, -- JSON
	first_observed   INTEGER NOT NULL,
	last_seen        INTEGER NOT NULL,
	created_at       INTEGER NOT NULL,
	updated_at       INTEGER NOT NULL,
	UNIQUE (account_id, flag, service, environment)
) STRICT;
