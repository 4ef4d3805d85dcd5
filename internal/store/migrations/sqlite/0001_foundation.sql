-- Accounts, their users and keys, environments, what services report, and the history of changes.

CREATE TABLE accounts (
	id                TEXT PRIMARY KEY,
	key               TEXT NOT NULL UNIQUE,
	name              TEXT NOT NULL,
	plans             TEXT NOT NULL, -- JSON: product -> plan
	settings          TEXT NOT NULL, -- JSON object without environment_order
	environment_order TEXT NOT NULL, -- JSON array
	change_seq        INTEGER NOT NULL, -- number of the last change
	created_at        INTEGER NOT NULL,
	updated_at        INTEGER NOT NULL
) STRICT;

CREATE TABLE users (
	id                TEXT PRIMARY KEY,
	account_id        TEXT NOT NULL REFERENCES accounts (id),
	email             TEXT NOT NULL,
	name              TEXT NOT NULL,
	role              TEXT NOT NULL,
	settings          TEXT NOT NULL,
	environment_order TEXT, -- null: the account's
	created_at        INTEGER NOT NULL,
	updated_at        INTEGER NOT NULL,
	UNIQUE (account_id, email)
) STRICT;

CREATE TABLE api_keys (
	id           TEXT PRIMARY KEY,
	account_id   TEXT NOT NULL REFERENCES accounts (id),
	hash         TEXT NOT NULL UNIQUE, -- SHA-256 of the plaintext
	name         TEXT NOT NULL,
	role         TEXT NOT NULL,
	status       TEXT NOT NULL,
	scopes       TEXT NOT NULL, -- JSON object
	expires_at   INTEGER,
	last_used_at INTEGER,
	created_by   TEXT NOT NULL,
	created_at   INTEGER NOT NULL,
	updated_at   INTEGER NOT NULL
) STRICT;

CREATE INDEX api_keys_by_name ON api_keys (account_id, name, id);

-- search is the lower-case key and name, for substring search that means the
-- same on every database.
CREATE TABLE environments (
	account_id     TEXT NOT NULL REFERENCES accounts (id),
	key            TEXT NOT NULL,
	name           TEXT NOT NULL,
	color          TEXT,
	classification TEXT NOT NULL,
	managed        INTEGER NOT NULL,
	search         TEXT NOT NULL,
	created_at     INTEGER NOT NULL,
	updated_at     INTEGER NOT NULL,
	PRIMARY KEY (account_id, key)
) STRICT;

CREATE TABLE services (
	account_id TEXT NOT NULL REFERENCES accounts (id),
	key        TEXT NOT NULL,
	name       TEXT NOT NULL,
	search     TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	PRIMARY KEY (account_id, key)
) STRICT;

CREATE TABLE context_types (
	account_id TEXT NOT NULL REFERENCES accounts (id),
	key        TEXT NOT NULL,
	name       TEXT NOT NULL,
	attributes TEXT NOT NULL, -- JSON object
	search     TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	PRIMARY KEY (account_id, key)
) STRICT;

CREATE TABLE contexts (
	account_id   TEXT NOT NULL REFERENCES accounts (id),
	context_type TEXT NOT NULL,
	key          TEXT NOT NULL,
	name         TEXT NOT NULL,
	attributes   TEXT NOT NULL, -- JSON object
	search       TEXT NOT NULL,
	created_at   INTEGER NOT NULL,
	updated_at   INTEGER NOT NULL,
	PRIMARY KEY (account_id, context_type, key)
) STRICT;

CREATE INDEX contexts_by_key ON contexts (account_id, key, context_type);

CREATE TABLE metric_minutes (
	account_id TEXT NOT NULL REFERENCES accounts (id),
	minute     INTEGER NOT NULL,
	name       TEXT NOT NULL,
	unit       TEXT NOT NULL,
	dimensions TEXT NOT NULL, -- JSON object, members sorted
	samples    INTEGER NOT NULL,
	sum        REAL NOT NULL,
	minimum    REAL NOT NULL,
	maximum    REAL NOT NULL,
	PRIMARY KEY (account_id, minute, name, unit, dimensions)
) STRICT;

CREATE TABLE changes (
	account_id TEXT NOT NULL REFERENCES accounts (id),
	seq        INTEGER NOT NULL,
	kind       TEXT NOT NULL,
	key        TEXT NOT NULL,
	action     TEXT NOT NULL,
	actor_type TEXT NOT NULL,
	actor_id   TEXT NOT NULL,
	actor_name TEXT NOT NULL,
	before     TEXT, -- JSON
	after      TEXT, -- JSON
	created_at INTEGER NOT NULL,
	PRIMARY KEY (account_id, seq)
) STRICT;

CREATE INDEX changes_by_resource ON changes (account_id, kind, key, seq);
CREATE INDEX changes_by_actor ON changes (account_id, actor_id, seq);
CREATE INDEX changes_by_time ON changes (account_id, created_at);

-- One value sealed with the key ring, so that a wrong ring is found at the start.
CREATE TABLE seal_checks (
	id     TEXT PRIMARY KEY,
	sealed BLOB NOT NULL
) STRICT;
