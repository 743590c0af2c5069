-- corpus_outcomes: a row is how often the Western entity of a pair is the more probable one by a corpus, how often the native one,
-- and how often neither, for a type of entities in one setting, or over all types (NULL in entity_type): whole entities.
SELECT
    model, dataset, form, language, culture, entity_type, setting, western_more, western_low, western_high, native_more,
    native_low, native_high, tied, tied_unseen, lacking, contexts, pairs
FROM pair_outcomes
WHERE rule = 'sum'
ORDER BY model, dataset, form, language, culture, entity_type NULLS FIRST, setting
