-- cell_answers: a row is a cell with at least one response; what the texts are like, in counts. Only texts without a
-- letter, which have no script, are read to see whether they are blank.
CREATE VIEW cell_answers AS
WITH counts AS (
    SELECT
        p.cell,
        count(*) FILTER (r.status = 'ok') AS answered,
        count(*) FILTER (r.status <> 'ok') AS failed,
        count(*) FILTER (is_refusal(r.ending, r.refused)) AS refused,
        count(*) FILTER (r.status = 'ok' AND r.refused IS NULL AND r.ending IS DISTINCT FROM 'withheld') AS unchecked,
        0 AS empty,
        count(*) FILTER (r.status = 'ok' AND r.ending = 'cut') AS cut,
        count(*) FILTER (r.status = 'ok' AND r.ending = 'unknown' AND (r.finish_reason IS NOT NULL OR r.origin IS NULL)) AS unknown_ending,
        count(*) FILTER (r.status = 'ok' AND coalesce(r.ending = 'unknown', true)) AS unrecorded_ending,
        count(*) FILTER (r.status = 'ok' AND is_wrong_language(r.detected_language, r.language)) AS wrong_language,
        count(*) FILTER (
            r.status = 'ok' AND r.detected_language <> r.language
            AND NOT is_wrong_language(r.detected_language, r.language)
        ) AS other_variant,
        count(*) FILTER (r.status = 'ok' AND r.detected_language IS NULL) AS undecided_language,
        count(*) FILTER (r.status = 'ok' AND is_wrong_script(r.script_share)) AS wrong_script,
        count(*) FILTER (
            r.status = 'ok' AND is_off_language(r.detected_language, r.language, r.script_share)
        ) AS off_language,
        string_agg(DISTINCT r.model_version, ' | ' ORDER BY r.model_version) AS model_versions
    FROM checked_responses AS r
    INNER JOIN asked_prompts AS p USING (request_id)
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT p.cell, count(*) AS empty
    FROM responses AS r
    INNER JOIN asked_prompts AS p USING (request_id)
    WHERE r.status = 'ok' AND r.script_share IS NULL AND regexp_full_match(r.text, '[\s\p{Z}]*')
    GROUP BY ALL
)
SELECT
    cell, coalesce(sum(COLUMNS(* EXCLUDE (cell, model_versions))), 0)::BIGINT, max(model_versions) AS model_versions
FROM counts
GROUP BY ALL;

-- cell_texts: a row is a cell with a text. Refusals, which say the same in one word or another, are not counted.
--   texts: answers that are neither blank nor refusals
--   distinct_texts: different ones, counted in each prompt
--   repeated: texts - distinct_texts; short answers repeat by chance
--   copies: texts that copy another one of their prompt (`copies`), beyond what chance explains
--   renumbered: texts that differ from another one of their prompt in digits or punctuation alone (`renumbered`)
--   shared: texts that another model of the run wrote as an answer to the same prompt, word for word, where the two models
--     share texts beyond what chance explains (`shared_texts`)
CREATE VIEW cell_texts AS
WITH texts AS MATERIALIZED (
    SELECT p.cell, p.model, p.prompt_id, t.text, t.times
    FROM prompt_texts AS t
    INNER JOIN asked_prompts AS p USING (model, prompt_id)
),
shared AS (
    SELECT DISTINCT a.model, a.prompt_id, a.text
    FROM texts AS a
    INNER JOIN (FROM shared_texts WHERE alike) AS s USING (model)
    INNER JOIN texts AS b ON s.other_model = b.model AND a.prompt_id = b.prompt_id AND a.text = b.text
),
copied AS (
    SELECT p.cell, count(*) AS copies FROM copies AS c INNER JOIN asked_prompts AS p USING (request_id) GROUP BY ALL
),
renumbered AS (
    SELECT p.cell, count(*) AS renumbered FROM renumbered AS r INNER JOIN asked_prompts AS p USING (request_id) GROUP BY ALL
)
SELECT
    t.cell, sum(t.times)::BIGINT AS texts, count(*) AS distinct_texts, (sum(t.times) - count(*))::BIGINT AS repeated,
    coalesce(any_value(c.copies), 0) AS copies, coalesce(any_value(r.renumbered), 0) AS renumbered,
    coalesce(sum(t.times) FILTER (s.text IS NOT NULL), 0)::BIGINT AS shared
FROM texts AS t
LEFT JOIN shared AS s USING (model, prompt_id, text)
LEFT JOIN copied AS c USING (cell)
LEFT JOIN renumbered AS r USING (cell)
GROUP BY t.cell;

-- health: a row is a cell; what was asked and what became of it, in counts. What is not asked, not extracted or not
-- looked up yet can be seen, and is in no metric.
CREATE VIEW health AS
SELECT
    c.model, c.language, c.topic, c.condition, c.country, c.wording,
    coalesce(COLUMNS([
        'asked', 'answered', 'failed', 'refused', 'unchecked', 'empty', 'cut', 'unknown_ending', 'unrecorded_ending', 'distinct_texts', 'repeated', 'copies', 'renumbered', 'shared',
        'wrong_language', 'other_variant', 'undecided_language',
        'wrong_script', 'off_language', 'extracted', 'extraction_failed', 'copied', 'mentions', 'hallucinated', 'uncounted', 'linked', 'ambiguous',
        'no_candidate', 'no_path', 'awaiting'
    ]), 0)::BIGINT,
    model_versions
FROM numbered_cells AS c
LEFT JOIN cell_answers USING (cell)
LEFT JOIN cell_texts USING (cell)
LEFT JOIN cell_extractions USING (cell)
LEFT JOIN cell_mentions USING (cell);

-- resolution: a row is a model, a language and a topic: what share of its mentions Wikidata has no item for, and under how
-- many surfaces an item comes. Where the first is high, the metrics speak of Wikidata, not of the model.
--   looked_up: mentions that were looked up
--   nil: of those: no item bears the name, or only items outside the topic
--   nil_share: nil over looked_up, 0 to 1; NULL where nothing was looked up
--   linked: of those: linked to an item
--   by_english: of those: found by an English name alone, in a text of another language
--   by_english_share: by_english over linked, 0 to 1; NULL where nothing is linked
--   disagreeing: of those: whose own words lead to the item, and whose English name matches another item of the topic
--   disagreeing_share: disagreeing over linked, 0 to 1; NULL where nothing is linked
--   entities: distinct linked items
--   surfaces: different words under which they come, counted once for each item
--   surfaces_per_entity: surfaces over entities, from 1; NULL where nothing is linked
CREATE VIEW resolution AS
SELECT
    c.model, c.language, c.topic,
    coalesce(sum(s.mentions) FILTER (s.status IS NOT NULL), 0)::BIGINT AS looked_up,
    coalesce(sum(s.mentions) FILTER (s.status IN ('no candidate', 'no path')), 0)::BIGINT AS nil,
    nil / nullif(looked_up, 0) AS nil_share,
    coalesce(sum(s.mentions) FILTER (s.status = 'linked'), 0)::BIGINT AS linked,
    coalesce(sum(s.mentions) FILTER (s.status = 'linked' AND s.only_english), 0)::BIGINT AS by_english,
    by_english / nullif(linked, 0) AS by_english_share,
    coalesce(sum(s.mentions) FILTER (s.status = 'linked' AND s.english_qid IS NOT NULL), 0)::BIGINT AS disagreeing,
    disagreeing / nullif(linked, 0) AS disagreeing_share,
    count(DISTINCT s.qid) FILTER (s.status = 'linked') AS entities,
    count(DISTINCT (s.surface, s.qid)) FILTER (s.status = 'linked') AS surfaces,
    surfaces / nullif(entities, 0) AS surfaces_per_entity
FROM numbered_cells AS c
LEFT JOIN cell_surfaces AS s USING (cell)
GROUP BY ALL;
