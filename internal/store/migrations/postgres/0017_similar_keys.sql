-- The indexes of similar keys, each of one expression that has the account in it, and of all rows. They began with account_id
-- and ended with key, or had the condition of a query by key: PostgreSQL took them for indexes of keys, and looked for one
-- key among all of the account's.
DROP INDEX flags_by_similarity;
CREATE INDEX flags_by_similarity ON flags ((account_id || ' ' || lower(replace(replace(replace(key, '-', ''), '_', ''), '.', ''))));
DROP INDEX loggers_by_similarity;
CREATE INDEX loggers_by_similarity ON loggers ((account_id || ' ' || lower(replace(replace(replace(key, '-', ''), '_', ''), '.', ''))));
DROP INDEX configs_by_similarity;
CREATE INDEX configs_by_similarity ON configs ((account_id || ' ' || lower(replace(replace(replace(key, '-', ''), '_', ''), '.', ''))));
DROP INDEX jobs_by_similarity;
CREATE INDEX jobs_by_similarity ON jobs ((account_id || ' ' || lower(replace(replace(replace(key, '-', ''), '_', ''), '.', ''))));
DROP INDEX environments_by_similarity;
CREATE INDEX environments_by_similarity ON environments ((account_id || ' ' || lower(replace(replace(replace(key, '-', ''), '_', ''), '.', ''))));
DROP INDEX services_by_similarity;
CREATE INDEX services_by_similarity ON services ((account_id || ' ' || lower(replace(replace(replace(key, '-', ''), '_', ''), '.', ''))));
DROP INDEX context_types_by_similarity;
CREATE INDEX context_types_by_similarity ON context_types ((account_id || ' ' || lower(replace(replace(replace(key, '-', ''), '_', ''), '.', ''))));
