-- People: how users sign in, invitations, links that work once, and sessions.

-- address is the e-mail address in lower case, which a user signs in with; null for the owner that an account begins
-- with, who has none yet. password is an argon2id hash; '' is none. search is as in the other tables.
ALTER TABLE users ADD COLUMN address text COLLATE "C";
ALTER TABLE users ADD COLUMN password text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN search text COLLATE "C" NOT NULL DEFAULT '';
UPDATE users SET search = lower(email) || chr(65535) || lower(name);
CREATE UNIQUE INDEX users_by_address ON users (address);
CREATE INDEX users_by_name ON users (account_id, name, id);

CREATE TABLE invitations (
	id         text COLLATE "C" PRIMARY KEY,
	account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
	email      text COLLATE "C" NOT NULL,
	address    text COLLATE "C" NOT NULL, -- the e-mail address in lower case
	role       text COLLATE "C" NOT NULL,
	created_by text COLLATE "C" NOT NULL,
	search     text COLLATE "C" NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	UNIQUE (account_id, address)
);

CREATE TABLE links (
	hash       text COLLATE "C" PRIMARY KEY, -- SHA-256 of the token
	account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
	kind       text COLLATE "C" NOT NULL,
	subject    text COLLATE "C" NOT NULL, -- the id of an account, an invitation or a user
	expires_at bigint,       -- null: never
	UNIQUE (kind, subject)
);

CREATE INDEX links_by_expiry ON links (expires_at);

CREATE TABLE sessions (
	id           text COLLATE "C" PRIMARY KEY,
	account_id   text COLLATE "C" NOT NULL REFERENCES accounts (id),
	user_id      text COLLATE "C" NOT NULL,
	key_id       text COLLATE "C",                 -- null: the user signed in with a password
	hash         text COLLATE "C" NOT NULL UNIQUE, -- SHA-256 of the cookie's value
	client       text COLLATE "C" NOT NULL,
	created_at   bigint NOT NULL,
	last_used_at bigint NOT NULL,
	expires_at   bigint NOT NULL
);

CREATE INDEX sessions_by_user ON sessions (account_id, user_id, created_at);
CREATE INDEX sessions_by_key ON sessions (account_id, key_id, created_at);
CREATE INDEX sessions_by_use ON sessions (last_used_at);
