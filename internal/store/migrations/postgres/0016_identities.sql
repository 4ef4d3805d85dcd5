-- Whom an OpenID Connect provider knows a user as: the issuer, a blank and the subject; null for users who have only a
-- password.
ALTER TABLE users ADD COLUMN identity TEXT COLLATE "C";
CREATE UNIQUE INDEX users_by_identity ON users (identity);
