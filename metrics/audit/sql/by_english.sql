-- A row: a language. `items`: its linked items, each once per response to a prompt that names a country that is covered; how many of
-- them rest on the extractor's English name alone (`english`), are associated with that country (`associated`), and both.
WITH meanings AS (
    SELECT query, substr(qid, 2)::BIGINT AS item, coalesce(matched_by = 'english', false) AS english
    FROM links
    WHERE status = 'linked'
),
named AS (
    SELECT m.cell, m.prompt, m.sample, l.item, bool_and(l.english) AS english
    FROM numbered_mentions AS m
    INNER JOIN meanings AS l USING (query)
    WHERE m.counts
    GROUP BY ALL
),
links_of_countries AS (
    SELECT c.language, n.english, a.item IS NOT NULL AS associated
    FROM named AS n
    INNER JOIN numbered_cells AS c USING (cell)
    INNER JOIN asked_countries AS q ON n.cell = q.cell AND c.country = q.country AND q.covered
    LEFT JOIN (SELECT substr(qid, 2)::BIGINT AS item, country FROM associations) AS a ON n.item = a.item AND c.country = a.country
    WHERE c.condition = 'explicit'
)
SELECT
    language, count(*) AS items, count(*) FILTER (english) AS english,
    count(*) FILTER (associated) AS associated, count(*) FILTER (english AND associated) AS english_associated
FROM links_of_countries
GROUP BY language
ORDER BY language
