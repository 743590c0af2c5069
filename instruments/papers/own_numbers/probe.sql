-- A row is a number of probed layers (CultureScope), keyed as the cells of `published`.
--   lacking: how many questions have no answer
WITH unprobed AS (
    SELECT w.model, w.dataset, w.language, w.arm, count(*) FILTER (p.question_key IS NULL) AS missing, count(*) AS wanted
    FROM probed_questions AS w
    LEFT JOIN (SELECT DISTINCT model, arm, question_key FROM probes WHERE status = 'ok') AS p USING (model, arm, question_key)
    GROUP BY ALL
),
told_words AS ( -- What the rows themselves tell: CultureScope sums nouns and verbs (4.1, step 1).
    SELECT
        model, dataset, language,
        CASE WHEN bool_or(starts_with(word_rule, 'rule')) THEN 'content words by a word list, not by a tagger' END AS told
    FROM probes
    GROUP BY ALL
)
SELECT
    n.model, coalesce(nullif(nullif(n.method, 'paper'), '-'), '') AS variant, n.measure, n.metric,
    CASE n.dataset WHEN 'blend-' || n.language THEN 'blend' ELSE n.dataset END AS dataset, -- all cultures in one language
    n.language, n.country AS culture, n.topic, n.condition, n.facets, n.estimate, n.low, n.high, n.no_interval,
    CASE n.metric WHEN 'similarity' THEN n.n ELSE n.units END AS n, CASE n.metric WHEN 'similarity' THEN 'item' ELSE n.unit END
        AS unit,
    s.estimate AS spread, w.told,
    CASE WHEN u.missing > 0 THEN u.missing || ' of ' || u.wanted || ' questions without an answer' ELSE '' END AS lacking
FROM numbers AS n
LEFT JOIN unprobed AS u ON (u.model, u.dataset, u.language, u.arm) = (n.model, n.dataset, n.language, n.condition)
LEFT JOIN numbers AS s
    ON n.metric = 'similarity' AND (s.measure, s.metric) = ('probe', 'similarity_sd')
    AND (s.model, s.dataset, s.language, s.condition) = (n.model, n.dataset, n.language, n.condition)
LEFT JOIN told_words AS w ON (w.model, w.dataset, w.language) = (n.model, n.dataset, n.language)
WHERE n.measure = 'probe' AND n.metric IN ('flattening', 'similarity') AND n.estimate IS NOT NULL
UNION ALL BY NAME
-- What was stopped has no number of the present data: why there is none.
SELECT model, 'probe' AS measure, dataset, missing || ' of ' || wanted || ' questions without an answer' AS lacking
FROM unprobed
ANTI JOIN (FROM numbers WHERE measure = 'probe') USING (model, dataset)
WHERE arm = 'patched' AND missing > 0
