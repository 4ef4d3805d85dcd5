-- search is the lower-case id and name of a key, as in the other tables. The
-- default is for nodes of an older version that still run beside this one.
ALTER TABLE api_keys ADD COLUMN search text COLLATE "C" NOT NULL DEFAULT '';
UPDATE api_keys SET search = id || chr(65535) || lower(name);
