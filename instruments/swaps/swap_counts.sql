-- Wrong labels: mean counts of a draw, native less Western (Asian - Western, Arab - Western in the papers)
-- swap_counts: a row is a number of wrong labels of a type of entities, the mean over draws of each side, of native less
-- Western, and of its size, beside which stands what no effect gives. Sides of unequal texts are not comparable by counts.
--   $pooled = false: settings that were added up, instead of each
-- printed: model, dataset, language, culture, entity_type, setting, counted, native, western, difference,
-- absolute_difference, chance, native_texts, western_texts
SELECT
    model, dataset, language, culture, entity_type, setting, counted, native, western, difference, absolute_difference, chance,
    draws, native_texts, western_texts
FROM sentiment_count_differences
WHERE pooled = $pooled
ORDER BY model, dataset, language, culture, entity_type NULLS LAST, setting, counted
