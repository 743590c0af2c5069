-- A row is a form of the previous round, at most $most of them.
SELECT key FROM inflections WHERE round = $before LIMIT $most
