-- audit_answers: a row is what judges said of a mention's thing (`question` is 'existence': does it exist, and has it an
-- item?) or of a response ('on_topic': is the text about its topic? 'region': of which is it?). What may be so (`answers`)
-- is what an adjudicator said, else each different thing that the judges said; where several are left, `answer` is NULL and the row `disputed`.
-- No correction of a metric rests on these.
--   ordinal: the place of the mention in its extraction, from 0; NULL: the whole response is judged
--   surface: the words of the mention; NULL for a response
--   question: 'existence' of a mention, 'on_topic' or 'region' of a response
--   answer: 'item', 'no item' or 'invented'; 'yes' or 'no'; NULL where judges differ
--   answers: what `answer` may be: what an adjudicator said, else each different word of the judges
CREATE VIEW audit_answers AS
WITH asked AS (
    SELECT extraction_id, ordinal, 'existence' AS question, existence AS said, coalesce(adjudicator, false) AS decides
    FROM judgements
    WHERE ordinal IS NOT NULL AND existence IS NOT NULL
    UNION ALL
    SELECT extraction_id, NULL, 'on_topic', on_topic, coalesce(adjudicator, false)
    FROM judgements
    WHERE ordinal IS NULL AND on_topic IS NOT NULL
    UNION ALL
    SELECT extraction_id, NULL, 'region', region, coalesce(adjudicator, false)
    FROM judgements
    WHERE ordinal IS NULL AND region IS NOT NULL
),
words AS (
    SELECT
        extraction_id, ordinal, question, count(*) AS judges,
        list_sort(coalesce(list(DISTINCT said) FILTER (decides), list(DISTINCT said))) AS answers
    FROM asked
    GROUP BY extraction_id, ordinal, question
),
present AS (
    SELECT extraction_id, ordinal, model, language, topic, surface FROM linked_mentions
    UNION ALL
    SELECT extraction_id, NULL, model, language, topic, NULL FROM extractions
)
SELECT
    p.extraction_id, p.ordinal, p.model, p.language, p.topic, p.surface, w.question, w.judges,
    CASE WHEN len(w.answers) = 1 THEN w.answers[1] END AS answer, len(w.answers) > 1 AS disputed, w.answers
FROM words AS w
INNER JOIN present AS p ON w.extraction_id = p.extraction_id AND w.ordinal IS NOT DISTINCT FROM p.ordinal;
