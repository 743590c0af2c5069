-- Pairs that the Western entity wins, the native one wins, or neither
-- corpus_outcomes: a row is how often the Western entity of a pair is the more probable one by a corpus, how often
-- the native one, and how often neither, for a type of entities in one setting, or over all types (NULL in
-- entity_type).
--   $rule = sum|mean|probability: the likelihood of an entity: sum (of the whole), mean (per token) or probability (mean of the tokens')
-- printed: model, dataset, form, language, culture, entity_type, setting, western_more, native_more, tied,
-- tied_unseen, contexts, pairs
SELECT
    model, dataset, form, language, culture, entity_type, setting, western_more,
    western_low AS western_more_low, western_high AS western_more_high, native_more, native_low AS native_more_low,
    native_high AS native_more_high, tied, tied_unseen, lacking, contexts, pairs
FROM pair_outcomes
WHERE rule = $rule
ORDER BY model, dataset, form, language, culture, entity_type NULLS FIRST, setting
