-- The zone of a job's schedule; null is UTC.
ALTER TABLE jobs ADD COLUMN timezone text COLLATE "C";
