-- Accounts, their users and keys, environments, what services report, and the history of changes.

CREATE TABLE accounts (
	id                text COLLATE "C" PRIMARY KEY,
	key               text COLLATE "C" NOT NULL UNIQUE,
	name              text COLLATE "C" NOT NULL,
	plans             text COLLATE "C" NOT NULL, -- JSON: product -> plan
	settings          text COLLATE "C" NOT NULL, -- JSON object without environment_order
	environment_order text COLLATE "C" NOT NULL, -- JSON array
	change_seq        bigint NOT NULL, -- number of the last change
	created_at        bigint NOT NULL,
	updated_at        bigint NOT NULL
);

CREATE TABLE users (
	id                text COLLATE "C" PRIMARY KEY,
	account_id        text COLLATE "C" NOT NULL REFERENCES accounts (id),
	email             text COLLATE "C" NOT NULL,
	name              text COLLATE "C" NOT NULL,
	role              text COLLATE "C" NOT NULL,
	settings          text COLLATE "C" NOT NULL,
	environment_order text COLLATE "C", -- null: the account's
	created_at        bigint NOT NULL,
	updated_at        bigint NOT NULL,
	UNIQUE (account_id, email)
);

CREATE TABLE api_keys (
	id           text COLLATE "C" PRIMARY KEY,
	account_id   text COLLATE "C" NOT NULL REFERENCES accounts (id),
	hash         text COLLATE "C" NOT NULL UNIQUE, -- SHA-256 of the plaintext
	name         text COLLATE "C" NOT NULL,
	role         text COLLATE "C" NOT NULL,
	status       text COLLATE "C" NOT NULL,
	scopes       text COLLATE "C" NOT NULL, -- JSON object
	expires_at   bigint,
	last_used_at bigint,
	created_by   text COLLATE "C" NOT NULL,
	created_at   bigint NOT NULL,
	updated_at   bigint NOT NULL
);

CREATE INDEX api_keys_by_name ON api_keys (account_id, name, id);

-- search is the lower-case key and name, for substring search that means the
-- same on every database.
CREATE TABLE environments (
	account_id     text COLLATE "C" NOT NULL REFERENCES accounts (id),
	key            text COLLATE "C" NOT NULL,
	name           text COLLATE "C" NOT NULL,
	color          text COLLATE "C",
	classification text COLLATE "C" NOT NULL,
	managed        boolean NOT NULL,
	search         text COLLATE "C" NOT NULL,
	created_at     bigint NOT NULL,
	updated_at     bigint NOT NULL,
	PRIMARY KEY (account_id, key)
);

CREATE TABLE services (
	account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
	key        text COLLATE "C" NOT NULL,
	name       text COLLATE "C" NOT NULL,
	search     text COLLATE "C" NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (account_id, key)
);

CREATE TABLE context_types (
	account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
	key        text COLLATE "C" NOT NULL,
	name       text COLLATE "C" NOT NULL,
	attributes text COLLATE "C" NOT NULL, -- JSON object
	search     text COLLATE "C" NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (account_id, key)
);

CREATE TABLE contexts (
	account_id   text COLLATE "C" NOT NULL REFERENCES accounts (id),
	context_type text COLLATE "C" NOT NULL,
	key          text COLLATE "C" NOT NULL,
	name         text COLLATE "C" NOT NULL,
	attributes   text COLLATE "C" NOT NULL, -- JSON object
	search       text COLLATE "C" NOT NULL,
	created_at   bigint NOT NULL,
	updated_at   bigint NOT NULL,
	PRIMARY KEY (account_id, context_type, key)
);

CREATE INDEX contexts_by_key ON contexts (account_id, key, context_type);

CREATE TABLE metric_minutes (
	account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
	minute     bigint NOT NULL,
	name       text COLLATE "C" NOT NULL,
	unit       text COLLATE "C" NOT NULL,
	dimensions text COLLATE "C" NOT NULL, -- JSON object, members sorted
	samples    bigint NOT NULL,
	sum        double precision NOT NULL,
	minimum    double precision NOT NULL,
	maximum    double precision NOT NULL,
	PRIMARY KEY (account_id, minute, name, unit, dimensions)
);

CREATE TABLE changes (
	account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
	seq        bigint NOT NULL,
	kind       text COLLATE "C" NOT NULL,
	key        text COLLATE "C" NOT NULL,
	action     text COLLATE "C" NOT NULL,
	actor_type text COLLATE "C" NOT NULL,
	actor_id   text COLLATE "C" NOT NULL,
	actor_name text COLLATE "C" NOT NULL,
	before     text COLLATE "C", -- JSON
	after      text COLLATE "C", -- JSON
	created_at bigint NOT NULL,
	PRIMARY KEY (account_id, seq)
);

CREATE INDEX changes_by_resource ON changes (account_id, kind, key, seq);
CREATE INDEX changes_by_actor ON changes (account_id, actor_id, seq);
CREATE INDEX changes_by_time ON changes (account_id, created_at);

-- One value sealed with the key ring, so that a wrong ring is found at the start.
CREATE TABLE seal_checks (
	id     text COLLATE "C" PRIMARY KEY,
	sealed bytea NOT NULL
);
