-- entities: how many distinct items all linked mentions came to.
SELECT count(DISTINCT qid) AS entities FROM linked_mentions WHERE status = 'linked';
