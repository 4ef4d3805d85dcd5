-- Why a change was made, in the words of who made it.
ALTER TABLE changes ADD COLUMN note text COLLATE "C";

-- Requests with an idempotency key, for a day. carried_out is set in the transaction that does the work; sealed has the
-- answer, once there is one. token is of the attempt that may do the work.
CREATE TABLE requests (
	id          text COLLATE "C" PRIMARY KEY,
	account_id  text COLLATE "C" NOT NULL,
	token       text COLLATE "C" NOT NULL,
	fingerprint text COLLATE "C" NOT NULL,
	carried_out boolean NOT NULL DEFAULT FALSE,
	sealed      bytea,
	begun_at    bigint NOT NULL
);

CREATE INDEX requests_by_time ON requests (begun_at);
