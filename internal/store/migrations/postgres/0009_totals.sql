-- access_seq is the number of the last change of what decides access: a remembered key is good while it stays.
ALTER TABLE accounts ADD COLUMN access_seq bigint NOT NULL DEFAULT 0;

-- Everything that an account may have only so much of is counted as it is written.
INSERT INTO account_totals (account_id, what, amount)
	SELECT account_id, 'flags', count(*) FROM flags WHERE deleted_at IS NULL GROUP BY account_id
	UNION ALL SELECT account_id, 'large flag bytes', sum(bytes) FROM (SELECT account_id,
		octet_length(base) + coalesce(octet_length(choices), 0) + octet_length(environments) AS bytes
		FROM flags WHERE deleted_at IS NULL) AS sizes WHERE bytes > 8192 GROUP BY account_id
	UNION ALL SELECT account_id, 'flag sources', count(*) FROM flag_sources GROUP BY account_id
	UNION ALL SELECT account_id, 'loggers', count(*) FROM loggers WHERE kind = 'logger' AND deleted_at IS NULL GROUP BY account_id
	UNION ALL SELECT account_id, 'managed loggers', count(*) FROM loggers
		WHERE kind = 'logger' AND deleted_at IS NULL AND managed = TRUE GROUP BY account_id
	UNION ALL SELECT account_id, 'log groups', count(*) FROM loggers WHERE kind = 'log_group' AND deleted_at IS NULL GROUP BY account_id
	UNION ALL SELECT account_id, 'large override bytes', sum(octet_length(environments)) FROM loggers
		WHERE deleted_at IS NULL AND octet_length(environments) > 8192 GROUP BY account_id
	UNION ALL SELECT account_id, 'logger sources', count(*) FROM logger_sources GROUP BY account_id
	UNION ALL SELECT account_id, 'configs', count(*) FROM configs GROUP BY account_id
	UNION ALL SELECT account_id, 'services', count(*) FROM services GROUP BY account_id
	UNION ALL SELECT account_id, 'context types', count(*) FROM context_types GROUP BY account_id
	UNION ALL SELECT account_id, 'contexts', count(*) FROM contexts GROUP BY account_id;
