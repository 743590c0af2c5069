-- What the filters make of items.

-- probe_judged: a row is an item of a layer under one filter, and why it is kept or not. 'none' keeps every item;
-- 'paper' those more similar to the question than the mean over all items of the model, data set, language and arm
-- (CultureScope, section 4.1, step 3); 'released' those of up to three words whose similarity with "culture topic" is above
-- .2, and with no other culture of the region above .5, as the published code has it, which keeps numbers, repeated items
-- and the last one of a text that was cut off, too. A language without an encoder has 'none' alone.
--   item: as the model wrote it
--   echo: 'prompt', 'culture', 'question' or 'answer': what the item repeats
--   dropped: why the filter does not keep the item; NULL where it does
--   kept: whether the filter keeps the item
--   mean_similarity: the mean over all items of the model, data set, language and arm
--   rejected: why a part is no item; NULL where it is one
--   place: the part's place in the text, from 0
CREATE VIEW probe_judged AS
WITH items AS (
    SELECT
        p.model, p.dataset, p.language, p.arm, p.culture, p.question_id, i.layer, i.place, i.item, i.item_key, i.echo,
        i.rejected, s.similarity, s.topic_similarity, s.neighbour_similarity,
        avg(s.similarity ORDER BY s.similarity) FILTER (WHERE i.rejected IS NULL)
            OVER (PARTITION BY p.model, p.dataset, p.language, p.arm) AS mean_similarity
    FROM probe_items AS i
    INNER JOIN probes AS p ON i.probe_id = p.probe_id
    LEFT JOIN probe_similarities AS s
        ON s.dataset = p.dataset AND s.language = p.language AND s.culture = p.culture
        AND s.question_id = p.question_id AND s.item_key = i.item_key
),
filters AS (
    SELECT DISTINCT language, 'none' AS filter FROM probes
    UNION ALL SELECT DISTINCT language, unnest(['paper', 'released']) FROM probe_similarities
),
judged AS (
    SELECT
        i.*, f.filter,
        CASE
            WHEN i.rejected IS NOT NULL
                AND NOT (f.filter = 'released' AND i.rejected IN ('repeated', 'cut off', 'no letter')) THEN i.rejected
            WHEN f.filter = 'none' THEN NULL
            WHEN i.similarity IS NULL THEN 'no similarity'
            WHEN f.filter = 'paper' AND i.similarity <= i.mean_similarity THEN 'similarity not above the mean'
            WHEN f.filter = 'paper' THEN NULL
            WHEN len(string_split(i.item_key, ' ')) > 3 THEN 'more than three words'
            WHEN length(i.item_key) < 2 OR starts_with(i.item, 'x') THEN 'a single sign, or begins with x'
            WHEN i.topic_similarity <= 0.2 THEN 'similarity with the topic not above .2'
            WHEN i.neighbour_similarity > 0.5 THEN 'similarity with another culture of the region above .5'
        END AS dropped
    FROM items AS i
    INNER JOIN filters AS f USING (language)
)
SELECT *, dropped IS NULL AS kept FROM judged;

-- probe_kept: a row is one occurrence of an item that a filter keeps.
CREATE VIEW probe_kept AS
SELECT model, dataset, language, arm, filter, culture, question_id, layer, item_key FROM probe_judged WHERE kept;

-- probe_unkept: a row is a culture of which a filter keeps no item: it has no part in the flattening score, and below three
-- cultures there is none.
--   items: that the models wrote and the filter leaves out
--   others: cultures of which the filter keeps items, of the same model, data set, language and arm
CREATE VIEW probe_unkept AS
SELECT
    model, dataset, language, arm, filter, culture, items::BIGINT AS items,
    (SELECT count(DISTINCT culture) FROM probe_kept AS k
     WHERE (k.model, k.dataset, k.language, k.arm, k.filter) = (j.model, j.dataset, j.language, j.arm, j.filter)) AS others
FROM (
    SELECT model, dataset, language, arm, filter, culture, count(*) FILTER (rejected IS NULL) AS items
    FROM probe_judged
    GROUP BY ALL
    HAVING NOT bool_or(kept)
) AS j;
