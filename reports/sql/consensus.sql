-- Culture consensus of two languages
-- consensus: a row is a pair of languages of a model, over all topics (`topic` is NULL) or in one; the mean over
-- conditions and countries.
-- printed: model, topic, language, other_language, estimate, incidences
SELECT
    model, nullif(topic, '*') AS topic, language, facets['other_language'] AS other_language,
    estimate, low, high, no_interval,
    wide_low, wide_high, no_wide,
    cells, missing, units AS responses, n AS incidences
FROM numbers
WHERE metric = 'consensus'
    AND level IN ('model, language, other_language', 'model, language, other_language, topic')
ORDER BY model, topic NULLS FIRST, language, other_language;
