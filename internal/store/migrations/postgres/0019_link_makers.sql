-- Links work only while their maker may still give what they give. maker_type and maker_id name the maker as the history
-- does: user, api_key or operator; '' is for set-up links and codes. role is what the link gives.
ALTER TABLE links ADD COLUMN id text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE links ADD COLUMN role text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE links ADD COLUMN maker_type text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE links ADD COLUMN maker_id text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE links ADD COLUMN created_at bigint NOT NULL DEFAULT 0;

-- Links that set a password lasted a day and did not say who made them: new ones must be asked for.
DELETE FROM links WHERE kind = 'reset';
UPDATE links SET id = subject, maker_type = 'user',
	role = (SELECT i.role FROM invitations i WHERE i.id = links.subject),
	maker_id = (SELECT i.created_by FROM invitations i WHERE i.id = links.subject),
	created_at = (SELECT i.created_at FROM invitations i WHERE i.id = links.subject)
	WHERE kind = 'join' AND EXISTS (SELECT 1 FROM invitations i WHERE i.id = links.subject);

CREATE INDEX links_by_account ON links (account_id, kind, created_at);
