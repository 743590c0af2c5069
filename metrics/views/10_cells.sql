-- cells: a row is one cell of the experiment: what a model was asked about a topic, in a language, under a condition,
-- of a country (NULL when the condition is neutral), in one wording of the question. The names of a wording stand in one
-- cell. Every asked cell is here, also when nothing came of it. Of an imported model those that it has texts of.
CREATE VIEW cells AS
SELECT
    w.model, p.language, p.topic, p.condition, p.country, p.wording, count(*) AS prompts, sum(w.n)::BIGINT AS asked
FROM wanted_responses AS w
INNER JOIN prompts AS p USING (prompt_id)
GROUP BY ALL;

-- countries: a row is a country of the experiment (ISO 3166).
--   country: ISO 3166
CREATE VIEW countries AS
SELECT country FROM run_countries;

-- neutral_countries: a row is a country for which the neutral prompts of a language are counted: those of the
-- experiment, and those that other prompts of the language name (an implicit prompt may name the language's first
-- country, whatever the experiment is about): gains are measured from there.
CREATE VIEW neutral_countries AS
SELECT language, country FROM (SELECT DISTINCT language FROM prompts), countries
UNION
SELECT language, country FROM prompts WHERE country IS NOT NULL;

-- shared_names: a row is a group of prompts of a language in which one person stands in two wordings or more: what it says of
-- the name, it says in each of them. (`name` is NULL where no person is named.)
CREATE VIEW shared_names AS
SELECT DISTINCT language, condition, country
FROM (
    SELECT language, condition, country, name
    FROM prompts
    WHERE name IS NOT NULL
    GROUP BY ALL
    HAVING count(DISTINCT wording) > 1
);

-- numbered_cells: a row is a cell under a number. The languages of a model, topic, condition, country and wording stand
-- together in one `place`, in their order.
--   place: the number of the cell's model, topic, condition, country and wording: cells of one place differ in
--     language only
CREATE VIEW numbered_cells AS
SELECT
    row_number() OVER (ORDER BY model, topic, condition, country NULLS FIRST, wording, language)::INTEGER AS cell,
    dense_rank() OVER (ORDER BY model, topic, condition, country NULLS FIRST, wording)::INTEGER AS place,
    *
FROM cells;

-- asked_prompts: a row is one of `wanted_responses` with the numbers of its cell and, as its model is asked it, of its
-- prompt. Joining stored responses with it keeps those that count now and finds their cell, in one step and with one
-- number instead of six names; `prompt` and `sample` are a response's name in two numbers.
CREATE VIEW asked_prompts AS
SELECT w.*, c.cell, row_number() OVER (ORDER BY w.model, w.prompt_id)::INTEGER AS prompt
FROM wanted_responses AS w
INNER JOIN prompts AS p USING (prompt_id)
INNER JOIN numbered_cells AS c
    ON w.model = c.model AND p.language = c.language AND p.topic = c.topic AND p.condition = c.condition
    AND p.country IS NOT DISTINCT FROM c.country AND p.wording = c.wording;

-- cell_prompts: a row is one of `asked_prompts` with an extractor whose work on it counts, and who reads its answers; the
-- same for extractions and mentions.
CREATE VIEW cell_prompts AS
SELECT a.* REPLACE (least(a.n, coalesce(e.sample, a.n)) AS n), e.extractor_id, e.reader_id
FROM asked_prompts AS a, (SELECT DISTINCT extractor_id, reader_id, sample FROM run_extractors) AS e;

-- linked_mentions: a row is a mention that counts (a kind that is counted, found in its response) with what became of
-- it: `status` is 'linked', 'ambiguous' (rivals too close to choose: `qid` is the first of them), 'no candidate', 'no
-- path', or NULL while nobody looked it up. The metrics take 'linked' only; a column that ends in `_with_ambiguous`
-- takes both.
--   status: 'linked', 'ambiguous', 'no candidate' or 'no path'; NULL while nobody looked it up
--   granularity: the mention's label: 1 specific, 0 general
--   qid: the item; of an ambiguous mention the first of its rivals; NULL where there is none
--   ambiguous: is the status 'ambiguous'?
--   start: where the surface begins in the response's text, in characters
--   end: where it ends, in characters
--   only_english: does its English name alone lead to the item?
--   english: its English or international name as the extractor gives it; NULL where it gives none
--   repaired: did the extractor return other words? `surface` is the passage of the text nearest to them
--   returned: the words that it returned, of a repaired mention
CREATE VIEW linked_mentions AS
SELECT
    m.* EXCLUDE (counted, hallucinated),
    l.status,
    l.qid,
    l.status = 'ambiguous' AS ambiguous,
    l.matched_by,
    l.match,
    l.matched,
    l.only_english
FROM mentions AS m
LEFT JOIN (SELECT query, status, qid, matched_by, match, matched, only_english FROM links) AS l USING (query)
WHERE m.counted AND NOT m.hallucinated;

-- cell_extractions: a row is a cell; what the extractor did with its responses, in counts.
CREATE VIEW cell_extractions AS
SELECT p.cell, count(*) FILTER (e.status = 'ok') AS extracted, count(*) FILTER (e.status = 'failed') AS extraction_failed
FROM stored_extractions AS e
INNER JOIN cell_prompts AS p USING (request_id, extractor_id)
WHERE e.reader_id IS NOT DISTINCT FROM p.reader_id AND e.sample < p.n
GROUP BY ALL;

-- cell_mentions: a row is a cell with at least one mention; what kinds of mentions they are, in counts.
CREATE VIEW cell_mentions AS
SELECT
    p.cell,
    count(*) FILTER (m.counted AND NOT m.hallucinated) AS mentions,
    count(*) FILTER (m.counted AND m.hallucinated) AS hallucinated,
    count(*) FILTER (NOT m.counted) AS uncounted
FROM stored_mentions AS m
INNER JOIN cell_prompts AS p USING (request_id, extractor_id)
WHERE m.reader_id IS NOT DISTINCT FROM p.reader_id AND m.sample < p.n
GROUP BY ALL;

-- cell_surfaces: a row is a surface of a cell's counted mentions under one dictionary form and English name (a query of the
-- linker), with how many they are, how many of them `specific`, and what it means.
--   mentions: mentions of the cell with this query
--   specific: mentions with granularity 1
CREATE VIEW cell_surfaces AS
WITH surfaces AS (
    SELECT p.cell, m.query, m.kind, m.surface, count(*) AS mentions, count(*) FILTER (m.granularity = 1) AS specific
    FROM stored_mentions AS m
    INNER JOIN cell_prompts AS p USING (request_id, extractor_id)
    WHERE m.reader_id IS NOT DISTINCT FROM p.reader_id AND m.sample < p.n AND m.counted AND NOT m.hallucinated
    GROUP BY ALL
)
SELECT s.cell, s.kind, s.surface, s.mentions, s.specific, l.status, l.qid, l.only_english
FROM surfaces AS s
LEFT JOIN links AS l USING (query);

-- mean_label: the mean of the 0/1 labels of some mentions. As a decimal, so that sums of it do not depend on their order.
CREATE MACRO mean_label(specific, mentions) AS (specific / nullif(mentions, 0))::DECIMAL(18, 15);

-- cell_incidence: a row is an item of a cell, with the number of responses that mention it: `seen` by a mention that is
-- linked to it, `seen_with_ambiguous` also by one of which it is the first of several rivals. Of the linked ones:
-- `mentions`, how many of them are `specific`, and `specific_seen`, the sum over responses of their mean label there.
--   seen: responses with a mention that is linked to the item
--   seen_with_ambiguous: the same, or with one of which the item is the first of several rivals
--   mentions: mentions linked to the item
--   specific: those of them with granularity 1
--   specific_seen: sum over responses of the mean label of its mentions there
--   by_english: responses of `seen` in which the English name of its mentions alone leads to the item
CREATE VIEW cell_incidence AS
WITH meanings AS MATERIALIZED (
    SELECT query, qid, status = 'linked' AS linked, only_english, dense_rank() OVER (ORDER BY qid)::INTEGER AS item
    FROM links
    WHERE qid IS NOT NULL
),
mentioned AS ( -- numbers alone: there are as many rows as mentions
    SELECT
        p.prompt, m.sample::INTEGER AS sample, l.item,
        count(*) FILTER (l.linked) AS mentions, count(*) FILTER (l.linked AND m.granularity = 1) AS specific,
        bool_and(l.only_english) FILTER (l.linked) AS only_english
    FROM stored_mentions AS m
    INNER JOIN cell_prompts AS p USING (request_id, extractor_id)
    INNER JOIN meanings AS l USING (query)
    WHERE m.reader_id IS NOT DISTINCT FROM p.reader_id AND m.sample < p.n AND m.counted AND NOT m.hallucinated
    GROUP BY ALL
),
counts AS (
    SELECT
        p.cell, m.item, count(*) FILTER (m.mentions > 0) AS seen, count(*) AS seen_with_ambiguous,
        sum(m.mentions)::BIGINT AS mentions, sum(m.specific)::BIGINT AS specific,
        coalesce(sum(mean_label(m.specific, m.mentions)), 0) AS specific_seen,
        count(*) FILTER (m.only_english) AS by_english
    FROM mentioned AS m
    INNER JOIN asked_prompts AS p USING (prompt)
    GROUP BY ALL
)
SELECT c.cell, i.qid, c.seen, c.seen_with_ambiguous, c.mentions, c.specific, c.specific_seen, c.by_english
FROM counts AS c
INNER JOIN (SELECT DISTINCT item, qid FROM meanings) AS i USING (item);

-- linked_incidences: a row is a cell with a linked item: how often linked items count there, each once per response that
-- mentions it, and the sum of their labels (an item's label in a response is the mean label of its mentions there).
--   specific: sum of the labels over `incidences`
--   by_english: those of `incidences` to which an English name alone leads
CREATE VIEW linked_incidences AS
SELECT
    cell, sum(seen)::BIGINT AS incidences, sum(specific_seen::DECIMAL(38, 15)) AS specific, sum(by_english)::BIGINT AS by_english
FROM cell_incidence
WHERE seen > 0
GROUP BY cell;

-- numbered_items: a row is an item that a cell's mentions came to, with how many of them are linked to it and for how
-- many it is the first of several rivals. What belongs to no item stands in rows whose `qid` is NULL: mentions without
-- one, and the responses that the extractor read whole. Every cell has such rows.
--   qid: the item; NULL for what belongs to none: mentions without one, and the responses that were read whole
--   responses: responses read whole; 0 in rows of items
CREATE VIEW numbered_items AS
SELECT
    cell, qid,
    0 AS responses,
    coalesce(sum(mentions) FILTER (status = 'linked'), 0)::BIGINT AS linked,
    coalesce(sum(mentions) FILTER (status = 'ambiguous'), 0)::BIGINT AS ambiguous,
    coalesce(sum(mentions) FILTER (status = 'no candidate'), 0)::BIGINT AS no_candidate,
    coalesce(sum(mentions) FILTER (status = 'no path'), 0)::BIGINT AS no_path,
    coalesce(sum(mentions) FILTER (status IS NULL), 0)::BIGINT AS awaiting
FROM cell_surfaces
GROUP BY ALL
UNION ALL
SELECT cell, NULL, coalesce(extracted, 0), 0, 0, 0, 0, 0
FROM numbered_cells
LEFT JOIN cell_extractions USING (cell);

-- cell_items: a row of `numbered_items`, with the names of its cell in place of the number.
--   qid: the item; NULL for what belongs to none: mentions without one, and the responses that were read whole
--   responses: responses read whole; 0 in rows of items
CREATE VIEW cell_items AS
SELECT
    c.model, c.language, c.topic, c.condition, c.country, c.wording, i.qid,
    i.responses, i.linked, i.ambiguous, i.no_candidate, i.no_path, i.awaiting
FROM numbered_items AS i
INNER JOIN numbered_cells AS c USING (cell);
