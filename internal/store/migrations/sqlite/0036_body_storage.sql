-- On PostgreSQL this step ends the compression of bodies that are compressed already. SQLite compresses nothing.
SELECT 1;
