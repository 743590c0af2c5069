-- Culture consensus by model and topic
-- consensus_by_topic: a row is a model over all topics (`topic` is NULL) or on one; the mean over pairs of languages,
-- conditions and countries.
-- printed: model, topic, estimate, responses, incidences
SELECT model, nullif(topic, '*') AS topic, estimate, low, high, no_interval,
    wide_low, wide_high, no_wide,
    cells, missing, units AS responses, n AS incidences
FROM numbers
WHERE metric = 'consensus' AND level IN ('model', 'model, topic')
ORDER BY model, topic NULLS FIRST;
