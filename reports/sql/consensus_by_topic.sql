-- Culture consensus by model and topic
-- consensus_by_topic: a row is a model over all topics (`topic` is NULL) or on one; the mean over pairs of languages,
-- conditions and countries.
-- printed: model, topic, estimate, responses, incidences
SELECT model, topic, estimate, low, high, no_interval,
    wordings_low, wordings_high, no_wordings_interval, cells, missing, responses, incidences
FROM aggregates
WHERE metric = 'consensus' AND level IN ('model', 'model, topic')
ORDER BY model, topic NULLS FIRST;
