-- Pairs that the Western entity wins, the native one wins, or neither
-- corpus_outcomes: a row is how often the Western entity of a pair is the more probable one by a corpus, how often
-- the native one, and how often neither, for a type of entities in one setting, or over types, where there are several
-- (NULL in entity_type).
--   $rule = sum|mean|probability: the likelihood of an entity: sum (of the whole), mean (per token) or probability (mean of the tokens')
--   $model = NULL: the model; NULL: all
--   place: language, culture and type of the entities
--   unseen: of all pairs: ties of entities that the corpus holds neither of behind the context
-- printed: place, setting, western_more, native_more, tied, unseen
SELECT
    model, dataset, form, language, culture, entity_type,
    concat_ws(' ', language, culture) || ', ' || coalesce(entity_type, 'all types') AS place, setting, western_more,
    western_low AS western_more_low, western_high AS western_more_high, native_more, native_low AS native_more_low,
    native_high AS native_more_high, tied, tied_unseen AS unseen, lacking, contexts, pairs
FROM pair_outcomes
WHERE rule = $rule AND ($model IS NULL OR model = $model)
QUALIFY entity_type IS NOT NULL
    OR count(DISTINCT entity_type) OVER (PARTITION BY model, dataset, form, language, culture, setting) > 1
ORDER BY model, dataset, form, language, culture, entity_type NULLS FIRST, setting
