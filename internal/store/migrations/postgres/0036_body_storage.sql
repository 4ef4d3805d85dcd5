-- Bodies of runs are compressed before they are stored. PostgreSQL tried to compress them once more.
ALTER TABLE run_bodies ALTER COLUMN body SET STORAGE EXTERNAL;
