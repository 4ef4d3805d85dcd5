-- search is the lower-case id and name of a key, as in the other tables. The
-- default is for nodes of an older version that still run beside this one.
ALTER TABLE api_keys ADD COLUMN search TEXT NOT NULL DEFAULT '';
UPDATE api_keys SET search = id || char(65535) || lower(name);
