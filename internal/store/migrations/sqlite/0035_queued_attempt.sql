-- On PostgreSQL this step gives the view runs a default for nodes of earlier versions. SQLite has one node.
SELECT 1;
