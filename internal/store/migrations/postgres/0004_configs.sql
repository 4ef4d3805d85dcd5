-- Configurations. Items and overrides are read and written as a whole.

CREATE TABLE configs (
	account_id   text COLLATE "C" NOT NULL REFERENCES accounts (id),
	key          text COLLATE "C" NOT NULL,
	name         text COLLATE "C" NOT NULL,
	description  text COLLATE "C",
	parent       text COLLATE "C",
	items        text COLLATE "C" NOT NULL, -- JSON object
	environments text COLLATE "C" NOT NULL, -- JSON object
	search       text COLLATE "C" NOT NULL,
	bytes        bigint NOT NULL, -- what the texts of the row have
	created_at   bigint NOT NULL,
	updated_at   bigint NOT NULL,
	PRIMARY KEY (account_id, key),
	FOREIGN KEY (account_id, parent) REFERENCES configs (account_id, key)
);

CREATE INDEX configs_by_parent ON configs (account_id, parent);

-- What an account has of something, counted as it is written, so that it is bounded without counting rows.
CREATE TABLE account_totals (
	account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
	what       text COLLATE "C" NOT NULL,
	amount     bigint NOT NULL,
	PRIMARY KEY (account_id, what)
);
