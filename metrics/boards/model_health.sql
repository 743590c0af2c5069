-- What became of what each model was asked, as shares. Unextracted are texts that the run's extractor is to read, the first of
-- each prompt where `[extract] sample` says so, and of which there is no extraction, or one that failed. Of imported texts all
-- models were to answer each prompt as often as one of them did.
WITH wanted AS (
    SELECT sum(n) AS wanted FROM (SELECT max(n) AS n FROM wanted_responses GROUP BY prompt_id)
    WHERE EXISTS (FROM responses WHERE origin IS NOT NULL)
),
texts AS (
    SELECT r.model, count(*) AS texts, count(*) FILTER (e.status = 'ok') AS extracted
    FROM responses AS r LEFT JOIN extractions AS e USING (response_id)
    WHERE r.status = 'ok' AND r.sample < coalesce((SELECT max(sample) FROM run_extractors), r.sample + 1)
    GROUP BY r.model
)
SELECT
    model, coalesce(any_value(wanted), sum(asked))::BIGINT AS asked, sum(answered)::BIGINT AS answered,
    (coalesce(any_value(wanted), sum(asked)) - sum(answered)) / coalesce(any_value(wanted), sum(asked)) AS missing,
    coalesce(sum(refused), 0) / sum(asked) AS refused,
    coalesce(sum(off_language) / nullif(sum(answered), 0), 0) AS "off-language",
    coalesce(sum(cut) / nullif(sum(answered), 0), 0) AS cut,
    coalesce(any_value((texts - extracted_texts) / texts), 0) AS unextracted
FROM health CROSS JOIN wanted LEFT JOIN (SELECT model, texts, extracted AS extracted_texts FROM texts) USING (model)
WHERE asked > 0
GROUP BY model ORDER BY model
