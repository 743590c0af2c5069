-- counts_size: how many rows `counts` has.
SELECT count(*) AS rows FROM counts;
