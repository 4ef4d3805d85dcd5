-- Systems that are told what happens in an account. sealed has the URL, the headers and the secrets.
CREATE TABLE webhooks (
	id            TEXT PRIMARY KEY,
	account_id    TEXT NOT NULL REFERENCES accounts (id),
	name          TEXT NOT NULL,
	search        TEXT NOT NULL,
	format        TEXT NOT NULL,
	events        TEXT NOT NULL, -- JSON array of types and prefixes
	filter        TEXT NOT NULL, -- JSON
	lane          TEXT NOT NULL, -- the queue of its deliveries: account and host
	enabled       INTEGER NOT NULL,
	failing_since INTEGER, -- the first failure since the last success
	sealed        BLOB NOT NULL,
	created_at    INTEGER NOT NULL,
	updated_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX webhooks_by_account ON webhooks (account_id, id);

-- How many enabled webhooks an account has. A write that records a change writes this row anyway, so that accounts
-- without webhooks need no further statement.
ALTER TABLE accounts ADD COLUMN webhooks INTEGER NOT NULL DEFAULT 0;

-- What happened, once for all webhooks that are told.
CREATE TABLE webhook_events (
	id         TEXT PRIMARY KEY, -- sorts by time
	account_id TEXT NOT NULL,
	at         INTEGER NOT NULL,
	data       TEXT NOT NULL -- JSON
) STRICT;

CREATE INDEX webhook_events_by_account ON webhook_events (account_id, at);

-- What is sent. The id is a function of the webhook and the event.
CREATE TABLE webhook_deliveries (
	id         TEXT PRIMARY KEY, -- sorts by time
	account_id TEXT NOT NULL,
	webhook_id TEXT NOT NULL,
	event_id   TEXT NOT NULL,
	type       TEXT NOT NULL,
	lane       TEXT NOT NULL,
	status     TEXT NOT NULL,
	attempt    INTEGER NOT NULL DEFAULT 0, -- of the schedule
	attempts   INTEGER NOT NULL DEFAULT 0, -- of all that were made
	due_at     INTEGER NOT NULL,
	lease      TEXT, -- the boot of the worker that sends it
	sent_at    INTEGER,
	group_key  TEXT, -- what the events of one message have in common
	joined_to  TEXT, -- the delivery that tells this one's event
	created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (due_at) WHERE status = 'waiting';
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (lane, id) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_sending ON webhook_deliveries (lease) WHERE status = 'sending';
CREATE INDEX webhook_deliveries_open ON webhook_deliveries (webhook_id, group_key) WHERE status = 'waiting' AND attempt = 0;
CREATE INDEX webhook_deliveries_joined ON webhook_deliveries (joined_to, id) WHERE joined_to IS NOT NULL;
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id) WHERE joined_to IS NULL;
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_id);
CREATE INDEX webhook_deliveries_by_account ON webhook_deliveries (account_id, id);

CREATE TABLE webhook_attempts (
	delivery_id TEXT NOT NULL,
	number      INTEGER NOT NULL,
	at          INTEGER NOT NULL,
	status      INTEGER,
	duration_ms INTEGER NOT NULL,
	error       TEXT,
	answer      TEXT, -- the beginning of its body
	PRIMARY KEY (delivery_id, number)
) STRICT;

-- When services of accounts with webhooks were last connected, and whether their silence was told.
CREATE TABLE service_presence (
	account_id  TEXT NOT NULL,
	service     TEXT NOT NULL,
	environment TEXT NOT NULL, -- '' for none
	seen_at     INTEGER NOT NULL,
	silent      INTEGER NOT NULL DEFAULT FALSE,
	PRIMARY KEY (account_id, service, environment)
) STRICT;

CREATE INDEX service_presence_heard ON service_presence (seen_at) WHERE silent = FALSE;

-- When it was told that the runs of the month are used up.
ALTER TABLE job_usage ADD COLUMN exhausted_at INTEGER;
