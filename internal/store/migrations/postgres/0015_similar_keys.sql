-- Keys without what is easily mistaken, for the warning that a new one is nearly another. They are indexes of an expression,
-- so that nothing has to keep a column up to date. They have the key too: SQLite would rather read all of an account's
-- keys in an index that has all columns of a query than find one in an index that has not.
CREATE INDEX flags_by_similarity ON flags (account_id, lower(replace(replace(replace(key, '-', ''), '_', ''), '.', '')), key);
CREATE INDEX loggers_by_similarity ON loggers (account_id, lower(replace(replace(replace(key, '-', ''), '_', ''), '.', '')), key) WHERE deleted_at IS NULL;
CREATE INDEX configs_by_similarity ON configs (account_id, lower(replace(replace(replace(key, '-', ''), '_', ''), '.', '')), key);
CREATE INDEX jobs_by_similarity ON jobs (account_id, lower(replace(replace(replace(key, '-', ''), '_', ''), '.', '')), key) WHERE deleted_at IS NULL;
CREATE INDEX environments_by_similarity ON environments (account_id, lower(replace(replace(replace(key, '-', ''), '_', ''), '.', '')), key);
CREATE INDEX services_by_similarity ON services (account_id, lower(replace(replace(replace(key, '-', ''), '_', ''), '.', '')), key);
CREATE INDEX context_types_by_similarity ON context_types (account_id, lower(replace(replace(replace(key, '-', ''), '_', ''), '.', '')), key);
