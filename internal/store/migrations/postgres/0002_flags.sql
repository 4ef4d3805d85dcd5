-- Feature flags, what their rules refer to, where they are declared, and when they were last evaluated.

CREATE TABLE flags (
	account_id     text COLLATE "C" NOT NULL REFERENCES accounts (id),
	key            text COLLATE "C" NOT NULL,
	name           text COLLATE "C" NOT NULL,
	description    text COLLATE "C",
	type           text COLLATE "C" NOT NULL,
	base           text COLLATE "C" NOT NULL, -- JSON: the default
	choices        text COLLATE "C", -- JSON array, null: unconstrained
	managed        boolean NOT NULL,
	environments   text COLLATE "C" NOT NULL, -- JSON object
	search         text COLLATE "C" NOT NULL,
	last_evaluated bigint,
	deleted_at     bigint,
	created_at     bigint NOT NULL,
	updated_at     bigint NOT NULL,
	PRIMARY KEY (account_id, key)
);

CREATE TABLE flag_references (
	account_id   text COLLATE "C" NOT NULL REFERENCES accounts (id),
	context_type text COLLATE "C" NOT NULL,
	context_key  text COLLATE "C" NOT NULL, -- empty: the type as a whole
	flag         text COLLATE "C" NOT NULL,
	PRIMARY KEY (account_id, context_type, context_key, flag)
);

CREATE INDEX flag_references_by_flag ON flag_references (account_id, flag);

CREATE TABLE flag_sources (
	id               text COLLATE "C" PRIMARY KEY,
	account_id       text COLLATE "C" NOT NULL REFERENCES accounts (id),
	flag             text COLLATE "C" NOT NULL,
	service          text COLLATE "C" NOT NULL,
	environment      text COLLATE "C" NOT NULL,
	declared_type    text COLLATE "C" NOT NULL,
	declared_default text COLLATE "C" NOT NULL, -- JSON
	first_observed   bigint NOT NULL,
	last_seen        bigint NOT NULL,
	created_at       bigint NOT NULL,
	updated_at       bigint NOT NULL,
	UNIQUE (account_id, flag, service, environment)
) WITH (fillfactor = 50); -- last_seen is written every minute: room for it on the same page
