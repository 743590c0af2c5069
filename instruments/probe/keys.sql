-- What items are counted by: the string as it is written, or the item of Wikidata that it is linked to.

-- probe_linked: a row is one occurrence of an item that a filter keeps, of the probe itself, with the item of Wikidata that
-- it means, or in `unlinked` the reason why the key 'item' leaves it out. What repeats the inspection prompt, the culture's
-- name or the question is not looked up.
--   unlinked: why the key 'item' leaves it out; NULL where it is linked
CREATE VIEW probe_linked AS
SELECT
    j.model, j.dataset, j.language, j.arm, j.filter, j.culture, j.question_id, j.layer, j.item_key,
    CASE WHEN coalesce(j.echo, 'answer') = 'answer' AND l.status = 'linked' THEN l.qid END AS qid,
    CASE
        WHEN coalesce(j.echo, 'answer') <> 'answer' THEN concat('repeats the ', j.echo)
        WHEN l.status IS NULL THEN 'not looked up'
        WHEN l.status <> 'linked' THEN l.status
    END AS unlinked
FROM probe_judged AS j
INNER JOIN probe_questions AS q USING (dataset, language, culture, question_id)
LEFT JOIN probe_links AS l
    ON l.language = j.language AND l.question_topic = coalesce(q.topic, '') AND l.item_key = j.item_key
WHERE j.kept AND j.arm = 'patched';

-- probe_keyed: a row is one occurrence of an item that a filter keeps, under a key. 'string': `item_key` is the item folded,
-- and items of different languages never coincide. 'item': it is an item of Wikidata; occurrences without a link are left
-- out. Under 'item' asking languages stand together, too: `language` then names all of them, as 'ar + en'.
--   item_key: under the key 'string' the item folded; under 'item' the item of Wikidata
--   language: that is asked in; under the key 'item' also all that are asked in, as 'ar + en'
CREATE VIEW probe_keyed AS
SELECT model, dataset, language, arm, filter, 'string' AS key, culture, question_id, item_key FROM probe_kept
UNION ALL
SELECT model, dataset, language, arm, filter, 'item' AS key, culture, question_id, qid AS item_key
FROM probe_linked
WHERE qid IS NOT NULL
UNION ALL
SELECT l.model, l.dataset, t.languages AS language, l.arm, l.filter, 'item' AS key, l.culture, l.question_id, l.qid AS item_key
FROM probe_linked AS l
INNER JOIN (
    SELECT model, dataset, arm, filter, string_agg(DISTINCT language, ' + ' ORDER BY language) AS languages
    FROM probe_linked
    WHERE qid IS NOT NULL
    GROUP BY ALL
    HAVING count(DISTINCT language) > 1
) AS t USING (model, dataset, arm, filter)
WHERE l.qid IS NOT NULL;
