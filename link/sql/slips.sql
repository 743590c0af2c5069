-- unsearched: add the queries without an item: their slips are not looked for where names are missing from the source.
INSERT INTO unsearched
SELECT DISTINCT unmatched.lookup, 'slips' FROM unmatched ANTI JOIN found ON found.query = unmatched.query;
