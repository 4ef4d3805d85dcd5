-- What services report by the thousand names its account without a foreign key: PostgreSQL looked the account up again for
-- every row, a third of the time of an insert. Whoever writes such a row holds the lock of the account's row already.
ALTER TABLE flags DROP CONSTRAINT flags_account_id_fkey;
ALTER TABLE flag_sources DROP CONSTRAINT flag_sources_account_id_fkey;
ALTER TABLE loggers DROP CONSTRAINT loggers_account_id_fkey;
ALTER TABLE logger_sources DROP CONSTRAINT logger_sources_account_id_fkey;
ALTER TABLE contexts DROP CONSTRAINT contexts_account_id_fkey;
