-- unsearched: add how many texts were not searched for a mention.
INSERT INTO unsearched
SELECT own, format('{} of {} other forms', count(*) FILTER (NOT searched), count(*))
FROM wanted_texts GROUP BY own HAVING NOT bool_and(searched);

-- expansions: add what is searched, each text under one number.
INSERT INTO expansions
SELECT
    coalesce(
        lookup.lookup, (SELECT max(lookup) FROM lookups) + dense_rank() OVER (ORDER BY wanted.language, wanted.surface)
    ) AS lookup,
    wanted.own, wanted.language, wanted.surface
FROM wanted_texts AS wanted
LEFT JOIN lookups AS lookup USING (language, surface)
WHERE wanted.searched;
