-- history_bytes is what the documents of an account's changes, before and after, add up to. Those of the oldest are removed
-- when they are too many: trimmed says so of a change, and history_trimmed is the number of the last such change.
ALTER TABLE changes ADD COLUMN trimmed boolean NOT NULL DEFAULT FALSE;
ALTER TABLE accounts ADD COLUMN history_trimmed bigint NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN history_bytes bigint NOT NULL DEFAULT 0;
UPDATE accounts SET history_bytes = (SELECT coalesce(sum(coalesce(octet_length(before), 0) + coalesce(octet_length(after), 0)), 0)
	FROM changes WHERE account_id = accounts.id);
