-- Systems that are told what happens in an account. sealed has the URL, the headers and the secrets.
CREATE TABLE webhooks (
	id            text COLLATE "C" PRIMARY KEY,
	account_id    text COLLATE "C" NOT NULL REFERENCES accounts (id),
	name          text COLLATE "C" NOT NULL,
	search        text COLLATE "C" NOT NULL,
	format        text COLLATE "C" NOT NULL,
	events        text COLLATE "C" NOT NULL, -- JSON array of types and prefixes
	filter        text COLLATE "C" NOT NULL, -- JSON
	lane          text COLLATE "C" NOT NULL, -- the queue of its deliveries: account and host
	enabled       boolean NOT NULL,
	failing_since bigint, -- the first failure since the last success
	sealed        bytea NOT NULL,
	created_at    bigint NOT NULL,
	updated_at    bigint NOT NULL
);

CREATE INDEX webhooks_by_account ON webhooks (account_id, id);

-- How many enabled webhooks an account has. A write that records a change writes this row anyway, so that accounts
-- without webhooks need no further statement.
ALTER TABLE accounts ADD COLUMN webhooks bigint NOT NULL DEFAULT 0;

-- What happened, once for all webhooks that are told.
CREATE TABLE webhook_events (
	id         text COLLATE "C" PRIMARY KEY, -- sorts by time
	account_id text COLLATE "C" NOT NULL,
	at         bigint NOT NULL,
	data       text COLLATE "C" NOT NULL -- JSON
);

CREATE INDEX webhook_events_by_account ON webhook_events (account_id, at);

-- What is sent. The id is a function of the webhook and the event.
CREATE TABLE webhook_deliveries (
	id         text COLLATE "C" PRIMARY KEY, -- sorts by time
	account_id text COLLATE "C" NOT NULL,
	webhook_id text COLLATE "C" NOT NULL,
	event_id   text COLLATE "C" NOT NULL,
	type       text COLLATE "C" NOT NULL,
	lane       text COLLATE "C" NOT NULL,
	status     text COLLATE "C" NOT NULL,
	attempt    bigint NOT NULL DEFAULT 0, -- of the schedule
	attempts   bigint NOT NULL DEFAULT 0, -- of all that were made
	due_at     bigint NOT NULL,
	lease      text COLLATE "C", -- the boot of the worker that sends it
	sent_at    bigint,
	group_key  text COLLATE "C", -- what the events of one message have in common
	joined_to  text COLLATE "C", -- the delivery that tells this one's event
	created_at bigint NOT NULL
);

CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (due_at) WHERE status = 'waiting';
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (lane, id) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_sending ON webhook_deliveries (lease) WHERE status = 'sending';
CREATE INDEX webhook_deliveries_open ON webhook_deliveries (webhook_id, group_key) WHERE status = 'waiting' AND attempt = 0;
CREATE INDEX webhook_deliveries_joined ON webhook_deliveries (joined_to, id) WHERE joined_to IS NOT NULL;
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id) WHERE joined_to IS NULL;
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_id);
CREATE INDEX webhook_deliveries_by_account ON webhook_deliveries (account_id, id);

CREATE TABLE webhook_attempts (
	delivery_id text COLLATE "C" NOT NULL,
	number      bigint NOT NULL,
	at          bigint NOT NULL,
	status      bigint,
	duration_ms bigint NOT NULL,
	error       text COLLATE "C",
	answer      text COLLATE "C", -- the beginning of its body
	PRIMARY KEY (delivery_id, number)
);

-- When services of accounts with webhooks were last connected, and whether their silence was told.
CREATE TABLE service_presence (
	account_id  text COLLATE "C" NOT NULL,
	service     text COLLATE "C" NOT NULL,
	environment text COLLATE "C" NOT NULL, -- '' for none
	seen_at     bigint NOT NULL,
	silent      boolean NOT NULL DEFAULT FALSE,
	PRIMARY KEY (account_id, service, environment)
);

CREATE INDEX service_presence_heard ON service_presence (seen_at) WHERE silent = FALSE;

-- When it was told that the runs of the month are used up.
ALTER TABLE job_usage ADD COLUMN exhausted_at bigint;
