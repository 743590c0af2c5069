-- A row: a language. `items`: its linked items, each once per response to a prompt that names a country that is covered; how many of
-- them rest on the extractor's English name alone (`english`), are associated with that country (`associated`), and both.
WITH links_of_countries AS (
    SELECT c.language, n.by_english AS english, a.item IS NOT NULL AS associated
    FROM named_items AS n
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
