-- People: how users sign in, invitations, links that work once, and sessions.

-- address is the e-mail address in lower case, which a user signs in with; null for the owner that an account begins
-- with, who has none yet. password is an argon2id hash; '' is none. search is as in the other tables.
ALTER TABLE users ADD COLUMN address TEXT;
ALTER TABLE users ADD COLUMN password TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN search TEXT NOT NULL DEFAULT '';
UPDATE users SET search = lower(email) || char(65535) || lower(name);
CREATE UNIQUE INDEX users_by_address ON users (address);
CREATE INDEX users_by_name ON users (account_id, name, id);

CREATE TABLE invitations (
	id         TEXT PRIMARY KEY,
	account_id TEXT NOT NULL REFERENCES accounts (id),
	email      TEXT NOT NULL,
	address    TEXT NOT NULL, -- the e-mail address in lower case
	role       TEXT NOT NULL,
	created_by TEXT NOT NULL,
	search     TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	UNIQUE (account_id, address)
) STRICT;

CREATE TABLE links (
	hash       TEXT PRIMARY KEY, -- SHA-256 of the token
	account_id TEXT NOT NULL REFERENCES accounts (id),
	kind       TEXT NOT NULL,
	subject    TEXT NOT NULL, -- the id of an account, an invitation or a user
	expires_at INTEGER,       -- null: never
	UNIQUE (kind, subject)
) STRICT;

CREATE INDEX links_by_expiry ON links (expires_at);

CREATE TABLE sessions (
	id           TEXT PRIMARY KEY,
	account_id   TEXT NOT NULL REFERENCES accounts (id),
	user_id      TEXT NOT NULL,
	key_id       TEXT,                 -- null: the user signed in with a password
	hash         TEXT NOT NULL UNIQUE, -- SHA-256 of the cookie's value
	client       TEXT NOT NULL,
	created_at   INTEGER NOT NULL,
	last_used_at INTEGER NOT NULL,
	expires_at   INTEGER NOT NULL
) STRICT;

CREATE INDEX sessions_by_user ON sessions (account_id, user_id, created_at);
CREATE INDEX sessions_by_key ON sessions (account_id, key_id, created_at);
CREATE INDEX sessions_by_use ON sessions (last_used_at);
