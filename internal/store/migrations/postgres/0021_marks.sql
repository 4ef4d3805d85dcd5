-- Instants that the servers remember about themselves: when retention last ran.
CREATE TABLE marks (
	name text COLLATE "C" PRIMARY KEY,
	at   bigint NOT NULL
);

-- After a gap, retention removes rows of an account only up to an instant, for a day; null is without a bound.
CREATE TABLE retention_bounds (
	account_id text COLLATE "C" NOT NULL,
	kind       text COLLATE "C" NOT NULL,
	keeps_from bigint,
	made_at    bigint NOT NULL,
	PRIMARY KEY (account_id, kind)
);
