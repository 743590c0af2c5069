-- What became of what each model was asked, as shares. Unextracted are texts whose extraction failed, and those of languages
-- in which a smaller share was extracted than in the model's best one: where `[extract] sample` limits how many texts are
-- extracted, the share is the same in all languages. A model of which nothing was extracted is wholly unextracted.
SELECT
    model, sum(asked)::BIGINT AS asked, sum(answered)::BIGINT AS answered,
    1 - sum(answered) / sum(asked) AS missing,
    sum(refused) / sum(asked) AS refused,
    coalesce(sum(off_language) / nullif(sum(answered), 0), 0) AS "off-language",
    coalesce(sum(cut) / nullif(sum(answered), 0), 0) AS cut,
    if(sum(answered) > 0, greatest(
        1 - coalesce(sum(extracted) / nullif(sum(answered) * max(extracted / nullif(answered, 0)), 0), 0),
        coalesce(sum(extraction_failed) / nullif(sum(extracted) + sum(extraction_failed), 0), 0)
    ), 0) AS unextracted
FROM (
    SELECT
        model, language, sum(asked) AS asked, sum(answered) AS answered, coalesce(sum(refused), 0) AS refused,
        coalesce(sum(off_language), 0) AS off_language, coalesce(sum(cut), 0) AS cut,
        coalesce(sum(extracted), 0) AS extracted, coalesce(sum(extraction_failed), 0) AS extraction_failed
    FROM health WHERE asked > 0 GROUP BY model, language
)
GROUP BY model ORDER BY model
