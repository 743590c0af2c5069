-- The picture of the first page, "asked about X, answered from Y": statements that `reports/asked_about.py` runs in turn.

-- shared: a row is a cell that names a country (of imported texts without known prompts: whose file says one), of a model, among
-- those in which all models with any linked item have one: numbers
-- of models beside one another are of the same prompts. `asked` is how many places of the country all these models were asked
-- about, `places` in how many of them all have one. Cells of a topic for which the links' source holds no item of the country are left out.
CREATE OR REPLACE TEMP TABLE picture_cells AS
WITH named AS (
    SELECT c.cell, c.model, c.country, dense_rank() OVER (ORDER BY c.country, c.language, c.topic, c.wording) AS place, n.cell IS NOT NULL AS linked
    FROM numbered_cells AS c
    LEFT JOIN linked_incidences AS n USING (cell)
    LEFT JOIN uncovered_countries AS u ON c.topic = u.topic AND c.country = u.country
    WHERE c.condition = (SELECT min(condition) FROM cells WHERE condition IN ('explicit', 'unstated')) AND c.country IS NOT NULL AND u.topic IS NULL
),
told AS (SELECT DISTINCT model FROM named WHERE linked),
-- Models may have languages of their own: only what all were asked can be lacking.
asked AS (
    SELECT country, place, count(*) FILTER (linked) AS linked, count(*) AS models
    FROM named
    WHERE model IN (FROM told)
    GROUP BY ALL
    HAVING count(*) = (SELECT count(*) FROM told)
),
common AS (SELECT place FROM asked WHERE linked = models),
sizes AS (
    SELECT country, count(*) AS asked, count(*) FILTER (linked = models) AS places
    FROM asked
    GROUP BY country
)
SELECT n.cell, n.model, n.country, n.place, s.asked, s.places
FROM named AS n
INNER JOIN sizes AS s USING (country)
WHERE n.model IN (FROM told) AND n.place IN (FROM common);

-- items: a row is a linked item of a response of these cells, and the countries that it is associated with.
-- `doubtful`: the text refuses, was cut, or is in another language than its prompt.
CREATE OR REPLACE TEMP TABLE picture_items AS
WITH doubts AS (SELECT prompt, sample FROM read_texts WHERE refused OR cut OR off_language)
SELECT DISTINCT m.cell, m.prompt, m.sample, l.qid, o.countries, d.prompt IS NOT NULL AS doubtful
FROM numbered_mentions AS m
SEMI JOIN picture_cells USING (cell)
INNER JOIN links AS l USING (query)
INNER JOIN item_origins AS o USING (qid)
LEFT JOIN doubts AS d ON m.prompt = d.prompt AND m.sample = d.sample
WHERE m.counts AND l.status = 'linked';

-- elsewhere: a row is a country that prompts name, and the other country that most of what is named about it belongs to. An item that belongs to both is of the country that was asked about. Where several
-- come up equally often, `other` is NULL.
CREATE OR REPLACE TEMP TABLE picture_elsewhere AS
WITH named AS (
    SELECT c.country, unnest(i.countries) AS other
    FROM picture_items AS i
    INNER JOIN picture_cells AS c USING (cell)
    WHERE NOT list_contains(i.countries, c.country)
),
counts AS (SELECT country, other, count(*) AS times FROM named GROUP BY country, other),
ranked AS (SELECT country, other, rank() OVER (PARTITION BY country ORDER BY times DESC) AS place FROM counts)
SELECT
    country,
    CASE WHEN count(*) FILTER (place = 1) = 1 THEN any_value(other) FILTER (place = 1) END AS other
FROM ranked
GROUP BY country;

-- responses: a row is so many (`responses`) responses of a cell that name as many linked items (`items`), as many of them of
-- the country (`here`), and as many of the other one (`elsewhere`); `doubtful` ones apart.
WITH counts AS (
    SELECT
        c.model, c.country, c.place, e.other, i.prompt, i.sample, i.doubtful, count(*) AS items,
        count(*) FILTER (list_contains(i.countries, c.country)) AS here,
        count(*) FILTER (list_contains(i.countries, e.other) AND NOT list_contains(i.countries, c.country)) AS elsewhere,
        count(*) FILTER (i.countries = []) AS nowhere
    FROM picture_items AS i
    INNER JOIN picture_cells AS c USING (cell)
    LEFT JOIN picture_elsewhere AS e USING (country)
    GROUP BY ALL
)
SELECT
    model, country, place, any_value(other) AS other, items, here, elsewhere, doubtful, sum(nowhere)::BIGINT AS nowhere, count(*) AS responses
FROM counts
GROUP BY model, country, place, items, here, elsewhere, doubtful
ORDER BY ALL;

-- things: a row is one of the three items that come up in the most responses about a country, of all models together.
WITH counts AS (
    SELECT c.country, i.qid, count(*) AS times
    FROM picture_items AS i
    INNER JOIN picture_cells AS c USING (cell)
    GROUP BY ALL
)
SELECT c.country, c.qid, coalesce(e.label, c.qid) AS label, c.times
FROM counts AS c
LEFT JOIN entities AS e USING (qid)
QUALIFY row_number() OVER (PARTITION BY c.country ORDER BY c.times DESC, c.qid) <= 3
ORDER BY c.country, c.times DESC, c.qid;

-- answers: a row is a country and a model: what was asked of these cells, and what became of it; the cells' languages and topics.
SELECT
    c.country, c.model, any_value(c.asked) AS places_asked, any_value(c.places) AS places, sum(h.asked)::BIGINT AS asked,
    sum(h.answered)::BIGINT AS answered, sum(h.refused)::BIGINT AS refused,
    any_value(n.condition) AS condition, list_sort(list(DISTINCT n.language)) AS languages, list_sort(list(DISTINCT n.topic)) AS topics
FROM picture_cells AS c
INNER JOIN numbered_cells AS n USING (cell)
INNER JOIN health AS h
    ON n.model = h.model AND n.language = h.language AND n.topic = h.topic AND n.condition = h.condition
    AND n.country = h.country AND n.wording = h.wording
GROUP BY c.country, c.model
ORDER BY ALL;

-- snapshots: a row is a further snapshot that the run was linked with, a country and a model: the means over the same cells.
--   here: the share of the linked items that belong to the country, with the links of that snapshot
--   nowhere: the share of those items of which it knows no country
WITH items AS (
    SELECT DISTINCT s.snapshot, s.identity, m.cell, m.prompt, m.sample, s.qid, s.countries
    FROM numbered_mentions AS m
    SEMI JOIN picture_cells USING (cell)
    INNER JOIN snapshot_links AS s USING (query)
    WHERE m.counts AND s.status = 'linked'
),
shares AS (
    SELECT
        i.snapshot, i.identity, c.country, c.model, c.cell,
        count(*) FILTER (list_contains(i.countries, c.country)) / count(*) AS here,
        count(*) FILTER (i.countries = []) / count(*) AS nowhere
    FROM items AS i
    INNER JOIN picture_cells AS c USING (cell)
    GROUP BY ALL
)
SELECT
    if(count(DISTINCT identity) OVER (PARTITION BY snapshot) > 1, snapshot || ' ' || identity, snapshot) AS snapshot,
    country, model, avg(here) AS here, avg(nowhere) AS nowhere
FROM shares
GROUP BY snapshot, identity, country, model
ORDER BY ALL;
