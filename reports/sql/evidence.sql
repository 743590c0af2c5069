-- The evidence behind the numbers: statements that `reports/evidence.py` runs in turn, for the page and for each of its parts.

-- axes: one row; along each axis, the codes that were asked.
SELECT
    list(DISTINCT model) AS model, list(DISTINCT language) AS language, list(DISTINCT topic) AS topic,
    list(DISTINCT condition) AS condition, list(DISTINCT country) FILTER (country IS NOT NULL) AS country
FROM cells;

-- run_mentions: a row is a mention of a counted kind. The page and each part take theirs from here: the run's files, of which
-- there are hundreds, are read once. There are millions: a number stands for what a cell is of.
CREATE TEMP TABLE run_mentions AS
SELECT m.response_id, m.prompt_id, p.cell, m.query, m.kind, m.surface, m.hallucinated, m.start, m."end"
FROM mentions AS m
INNER JOIN asked_prompts AS p ON m.model = p.model AND m.prompt_id = p.prompt_id
WHERE m.counted;

-- run_texts: a row is a response with what it says, cut where it is very long; likewise for all parts.
CREATE TEMP TABLE run_texts AS
SELECT
    r.response_id, r.prompt_id, p.cell, r.sample, left(r.text, $longest) AS text, length(r.text) > $longest AS cut,
    r.detected_language
FROM responses AS r
INNER JOIN asked_prompts AS p ON r.model = p.model AND r.prompt_id = p.prompt_id;

-- run_items: a row is a Wikidata item with what Wikidata says of it; likewise.
CREATE TEMP TABLE run_items AS
WITH countries AS (
    SELECT
        qid,
        list({'country': country, 'country_qid': country_qid, 'property': property} ORDER BY property, country_qid)
            FILTER (country_qid IS NOT NULL) AS countries
    FROM entity_countries
    GROUP BY qid
)
SELECT i.qid, e.label, e.labels, e.description, o.origin_kind, o.origin, c.countries
FROM (SELECT qid FROM links WHERE qid IS NOT NULL UNION SELECT qid FROM entities) AS i
LEFT JOIN entities AS e USING (qid)
LEFT JOIN item_origins AS o USING (qid)
LEFT JOIN countries AS c USING (qid);

-- every_mention: a row is one of `run_mentions`, for the page.
CREATE TEMP VIEW counted_mentions AS FROM run_mentions;

-- some_mentions: a row is one of `run_mentions` in one language and topic, for a part.
CREATE OR REPLACE TEMP TABLE counted_mentions AS
FROM run_mentions
WHERE cell IN (SELECT cell FROM numbered_cells WHERE language = $language AND topic = $topic);

-- no_mention: makes room for the mentions of one language and topic.
DROP VIEW counted_mentions;

-- surfaces: a row is a distinct query (a surface with its names) of a counted kind in a language and topic, what became of it, and how often it is
-- mentioned. Each is looked up once, however many mentions it has.
CREATE OR REPLACE TEMP TABLE surfaces AS
WITH counted AS (
    SELECT m.query, c.language, c.topic, m.kind, m.surface, m.hallucinated, count(*) AS mentions
    FROM counted_mentions AS m
    INNER JOIN numbered_cells AS c USING (cell)
    GROUP BY ALL
)
SELECT
    c.query, c.language, c.topic, c.kind, c.surface, c.hallucinated, c.mentions,
    CASE WHEN c.hallucinated THEN 'hallucinated' ELSE coalesce(l.status, 'awaiting') END AS status,
    CASE WHEN NOT c.hallucinated THEN l.qid END AS qid,
    CASE WHEN NOT c.hallucinated THEN l.path END AS path,
    CASE WHEN NOT c.hallucinated THEN l.match END AS match
FROM counted AS c
LEFT JOIN links AS l USING (query);

-- items: a row is something that mentions came to, the most mentioned first. For mentions that are linked or ambiguous it
-- is a Wikidata item, with the way in which most of its mentions got there; for the others it is a surface in its
-- language, topic and kind. At most $item_limit rows of linked items, and $other_limit of every other status.
CREATE OR REPLACE TEMP TABLE items AS
WITH totals AS (
    SELECT
        status, qid,
        CASE WHEN qid IS NULL THEN language END AS language,
        CASE WHEN qid IS NULL THEN topic END AS topic,
        CASE WHEN qid IS NULL THEN kind END AS kind,
        CASE WHEN qid IS NULL THEN surface END AS surface,
        sum(mentions)::BIGINT AS mentions,
        list_sort(list(DISTINCT surfaces.kind)) AS kinds,
        list_sort(list(DISTINCT surfaces.language)) AS languages,
        arg_max({'path': path, 'match': match}, (surfaces.mentions, surfaces.language, surfaces.surface)) AS route
    FROM surfaces
    GROUP BY ALL
),
ranked AS (
    SELECT
        *,
        list_position(['linked', 'ambiguous', 'no candidate', 'no path', 'hallucinated', 'awaiting'], status) AS place,
        row_number() OVER (PARTITION BY status ORDER BY mentions DESC, qid, language, topic, kind, surface) AS rank,
        count(*) OVER (PARTITION BY status) AS of_status
    FROM totals
)
SELECT row_number() OVER (ORDER BY place, rank) - 1 AS item, * EXCLUDE (place)
FROM ranked
WHERE rank <= CASE WHEN status = 'linked' THEN $item_limit ELSE $other_limit END;

-- surface_items: a row is a surface with the item that it came to; surfaces whose item is not shown are left out.
CREATE OR REPLACE TEMP TABLE surface_items AS
SELECT s.query, s.hallucinated, i.item
FROM surfaces AS s
INNER JOIN items AS i
    ON s.status = i.status
    AND s.qid IS NOT DISTINCT FROM i.qid
    AND (s.qid IS NOT NULL OR (s.language, s.topic, s.kind, s.surface) = (i.language, i.topic, i.kind, i.surface));

-- item_cells: a row is how often an item is mentioned in a cell.
CREATE OR REPLACE TEMP TABLE item_cells AS
WITH counted AS (
    SELECT cell, query, hallucinated, count(*) AS mentions
    FROM counted_mentions
    GROUP BY ALL
)
SELECT i.item, c.model, c.language, c.topic, c.condition, c.country, sum(m.mentions)::BIGINT AS mentions
FROM counted AS m
INNER JOIN surface_items AS i USING (query, hallucinated)
INNER JOIN numbered_cells AS c USING (cell)
GROUP BY ALL;

-- counts: a row is how often an item is mentioned by a model in a language and topic, and, as far as asked for, under a
-- condition and about a country.
CREATE OR REPLACE TEMP TABLE counts AS
SELECT
    item, model, language, topic,
    CASE WHEN $by_condition THEN condition END AS condition,
    CASE WHEN $by_country THEN country END AS country,
    sum(mentions)::BIGINT AS mentions
FROM item_cells
GROUP BY ALL;

-- counts_size: how many rows `counts` has.
SELECT count(*) AS rows FROM counts;

-- counts_shown: the rows of `counts`, items whole, the most mentioned of every status first, at most $row_limit.
SELECT c.*
FROM counts AS c
INNER JOIN items AS i USING (item)
QUALIFY count(*) OVER (ORDER BY i.rank, c.item RANGE UNBOUNDED PRECEDING) <= $row_limit
ORDER BY c.item, c.model, c.language, c.topic, c.condition NULLS FIRST, c.country NULLS FIRST;

-- drawn_responses: a row is a response that may be shown, in the order in which they are while their texts fit: `bytes` is
-- the size of all up to it, each cut where it is very long. A place is an item in a model, language and topic and, as far
-- as asked for, under a condition and about a country. Every item has its first response before any has its second, and
-- every place its first, which is `needed`, before any its second. In a place the lowest hash comes first: as good as by
-- chance, and always the same; at most $laps of a place are drawn.
CREATE OR REPLACE TEMP TABLE drawn_responses AS
WITH of_surface AS (
    SELECT
        c.model, c.language, c.topic,
        CASE WHEN $by_condition THEN c.condition END AS condition,
        CASE WHEN $by_country THEN c.country END AS country,
        m.query, m.hallucinated,
        min({'response_id': m.response_id, 'prompt_id': m.prompt_id}, $laps) AS picks
    FROM counted_mentions AS m
    SEMI JOIN surface_items AS i ON m.query = i.query AND m.hallucinated = i.hallucinated
    INNER JOIN numbered_cells AS c USING (cell)
    GROUP BY ALL
),
of_place AS (
    SELECT
        item, model, language, topic, condition, country,
        list_sort(list_distinct(flatten(list(picks))))[:$laps] AS picks
    FROM of_surface
    INNER JOIN surface_items USING (query, hallucinated)
    GROUP BY ALL
),
laps AS (
    SELECT item, unnest(picks) AS pick, generate_subscripts(picks, 1) AS lap
    FROM of_place
),
turns AS (
    SELECT item, pick, lap, row_number() OVER (PARTITION BY item ORDER BY lap, pick) AS turn
    FROM laps
),
firsts AS (
    SELECT
        pick.response_id AS response_id, pick.prompt_id AS prompt_id,
        min({'later': lap > 1, 'turn': turn, 'item': item}) AS first
    FROM turns
    GROUP BY ALL
)
SELECT
    r.*, p.text AS prompt, NOT f.first.later AS needed,
    row_number() OVER in_turn - 1 AS number,
    sum(strlen(r.text)) OVER in_turn AS bytes
FROM firsts AS f
INNER JOIN prompts AS p ON f.prompt_id = p.prompt_id
INNER JOIN run_texts AS r ON f.response_id = r.response_id AND f.prompt_id = r.prompt_id
WINDOW in_turn AS (ORDER BY f.first, f.response_id, f.prompt_id);

-- left_out: how many responses were drawn and do not fit into $text_budget bytes; `needed`: and are a place's first.
SELECT count(*) AS responses, count(*) FILTER (needed) AS needed
FROM drawn_responses
WHERE bytes > $text_budget;

-- shown_responses: a row is a response that is shown, with the prompt that asked for it: as many as fit into $text_budget
-- bytes.
CREATE OR REPLACE TEMP TABLE shown_responses AS
SELECT * EXCLUDE (bytes, needed)
FROM drawn_responses
WHERE bytes <= $text_budget;

-- texts: a row is a response that is shown, with the prompt that asked for it.
SELECT
    s.number, c.model, c.language, c.topic, c.condition, c.country, s.sample, s.text, s.cut, s.detected_language, s.prompt
FROM shown_responses AS s
INNER JOIN numbered_cells AS c USING (cell)
ORDER BY s.number;

-- details: a row is an item of the table with what Wikidata says of it.
SELECT
    i.item, i.status, i.qid, i.language, i.topic, i.surface, i.kinds, i.languages, i.mentions, i.of_status,
    i.route.path AS path, i.route.match AS match, w.* EXCLUDE (qid)
FROM items AS i
LEFT JOIN run_items AS w ON i.qid = w.qid
ORDER BY i.item;

-- marks: a row is a mention in a response that is shown: its place in the text and its item (-1: an item that is not in
-- the table). Hallucinated mentions have no place.
SELECT s.number, m.start, m."end", coalesce(i.item, -1) AS item
FROM shown_responses AS s
INNER JOIN counted_mentions AS m USING (response_id, prompt_id)
LEFT JOIN surface_items AS i USING (query, hallucinated)
ORDER BY s.number, m.start, m."end", i.item;
