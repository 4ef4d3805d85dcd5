-- Why a change was made, in the words of who made it.
ALTER TABLE changes ADD COLUMN note TEXT;

-- Requests with an idempotency key, for a day. carried_out is set in the transaction that does the work; sealed has the
-- answer, once there is one. token is of the attempt that may do the work.
CREATE TABLE requests (
	id          TEXT PRIMARY KEY,
	account_id  TEXT NOT NULL,
	token       TEXT NOT NULL,
	fingerprint TEXT NOT NULL,
	carried_out INTEGER NOT NULL DEFAULT FALSE,
	sealed      BLOB,
	begun_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX requests_by_time ON requests (begun_at);
