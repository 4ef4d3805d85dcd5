-- Instants that the server remembers about itself: the newest time that it was sure of, and when retention last ran.
CREATE TABLE marks (
	name TEXT PRIMARY KEY,
	at   INTEGER NOT NULL
) STRICT;

-- After a gap, retention removes rows of an account only up to an instant, for a day; null is without a bound.
CREATE TABLE retention_bounds (
	account_id TEXT NOT NULL,
	kind       TEXT NOT NULL,
	keeps_from INTEGER,
	made_at    INTEGER NOT NULL,
	PRIMARY KEY (account_id, kind)
) STRICT;
