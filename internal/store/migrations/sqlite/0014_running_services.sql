-- What a key may be used for, and who is connected to the event stream.

ALTER TABLE api_keys ADD COLUMN access TEXT NOT NULL DEFAULT 'full';

-- The event sockets of all nodes. A row counts while its node is among worker_nodes.
CREATE TABLE connections (
	id           TEXT PRIMARY KEY, -- a UUIDv7: connections sort by age
	boot         TEXT NOT NULL, -- of the node, as in worker_nodes
	account_id   TEXT NOT NULL,
	node         TEXT NOT NULL,
	service      TEXT,
	environment  TEXT,
	client       TEXT NOT NULL,
	connected_at INTEGER NOT NULL,
	seq          INTEGER NOT NULL -- of the last change that was sent
) STRICT;

CREATE INDEX connections_by_account ON connections (account_id, id);
CREATE INDEX connections_by_boot ON connections (boot);
