-- Configurations. Items and overrides are read and written as a whole.

CREATE TABLE configs (
	account_id   TEXT NOT NULL REFERENCES accounts (id),
	key          TEXT NOT NULL,
	name         TEXT NOT NULL,
	description  TEXT,
	parent       TEXT,
	items        TEXT NOT NULL, -- JSON object
	environments TEXT NOT NULL, -- JSON object
	search       TEXT NOT NULL,
	bytes        INTEGER NOT NULL, -- what the texts of the row have
	created_at   INTEGER NOT NULL,
	updated_at   INTEGER NOT NULL,
	PRIMARY KEY (account_id, key),
	FOREIGN KEY (account_id, parent) REFERENCES configs (account_id, key)
) STRICT;

CREATE INDEX configs_by_parent ON configs (account_id, parent);

-- What an account has of something, counted as it is written, so that it is bounded without counting rows.
CREATE TABLE account_totals (
	account_id TEXT NOT NULL REFERENCES accounts (id),
	what       TEXT NOT NULL,
	amount     INTEGER NOT NULL,
	PRIMARY KEY (account_id, what)
) STRICT;
