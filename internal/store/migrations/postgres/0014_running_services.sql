-- What a key may be used for, and who is connected to the event stream.

ALTER TABLE api_keys ADD COLUMN access text COLLATE "C" NOT NULL DEFAULT 'full';

-- The event sockets of all nodes. A row counts while its node is among worker_nodes.
CREATE TABLE connections (
	id           text COLLATE "C" PRIMARY KEY, -- a UUIDv7: connections sort by age
	boot         text COLLATE "C" NOT NULL, -- of the node, as in worker_nodes
	account_id   text COLLATE "C" NOT NULL,
	node         text COLLATE "C" NOT NULL,
	service      text COLLATE "C",
	environment  text COLLATE "C",
	client       text COLLATE "C" NOT NULL,
	connected_at bigint NOT NULL,
	seq          bigint NOT NULL -- of the last change that was sent
);

CREATE INDEX connections_by_account ON connections (account_id, id);
CREATE INDEX connections_by_boot ON connections (boot);
