-- naming_responses: a row is a response to a prompt that names a country in one of the country's own languages, or to a
-- neutral prompt in one of these languages, and a column of the figure that linked items of it come from: a country of
-- the study, one of the eight that come up most besides, 'more' for the other countries, or the kind where it is no single
-- country. `numerator` counts these items, `denominator` all linked items of the response. `$native` lists languages with
-- their countries ('ja JP').
WITH native AS (
    SELECT split_part(pair, ' ', 1) AS language, split_part(pair, ' ', 2) AS country
    FROM (SELECT unnest($native::VARCHAR[]) AS pair)
),
chosen AS MATERIALIZED (
    SELECT cell, model, language, topic, condition, country
    FROM numbered_cells
    WHERE (condition = 'explicit' AND (language, country) IN (SELECT (language, country) FROM native))
        OR (condition = 'neutral' AND language IN (SELECT language FROM native))
),
said AS MATERIALIZED (
    SELECT m.cell, m.prompt, m.sample, l.qid
    FROM numbered_mentions AS m
    INNER JOIN chosen AS c USING (cell)
    INNER JOIN links AS l USING (query)
    WHERE m.counts AND l.status = 'linked'
    GROUP BY ALL
),
placed AS MATERIALIZED (
    SELECT s.cell, s.prompt, s.sample, o.origin_kind, o.origin
    FROM said AS s
    INNER JOIN item_origins AS o USING (qid)
),
others AS (
    SELECT origin
    FROM placed
    WHERE origin IS NOT NULL AND origin NOT IN (SELECT country FROM run_countries)
    GROUP BY origin
    ORDER BY count(*) DESC, origin
    LIMIT 8
),
counts AS (
    SELECT
        cell, prompt, sample,
        CASE
            WHEN origin_kind <> 'country' THEN origin_kind
            WHEN origin IN (SELECT country FROM run_countries) OR origin IN (FROM others) THEN origin
            ELSE 'more'
        END AS origin,
        count(*) AS numerator
    FROM placed
    GROUP BY ALL
)
SELECT
    c.model, c.language, c.topic, c.condition, c.country, n.cell, n.prompt, n.sample, n.origin,
    n.numerator, sum(n.numerator) OVER (PARTITION BY n.cell, n.prompt, n.sample)::BIGINT AS denominator
FROM counts AS n
INNER JOIN chosen AS c USING (cell)
ORDER BY n.cell, n.prompt, n.sample, n.origin;
