-- Distinct items, Hill numbers, coverage and rarefied counts, by model and language
-- companions: a row is a number of a model, over all languages (`language` is NULL) or in one, that says how many
-- different things it names and can be compared between samples of different size; diversity itself beside them, and
-- of a language, or all where there is one, the mean length of the texts. Means over topics, conditions and countries. Rarefied counts are of
-- `rarefied_to` responses a cell.
-- printed: model, language, metric, estimate
-- side by side: metric
SELECT
    metric, a.model, nullif(a.language, '*') AS language, estimate, low, high, no_interval,
    wide_low, wide_high, no_wide, a.cells, a.missing,
    units AS responses, n AS incidences,
    CASE WHEN metric = 'rarefied' THEN (SELECT any_value(rarefied_to) FROM diversity_companions) END AS rarefied_to,
    l.characters
FROM numbers AS a
INNER JOIN declared_metrics AS d ON a.metric = d.name AND d.of_diversity
LEFT JOIN lengths AS l
    ON a.model = l.model
    AND l.language = if(a.language = '*', (SELECT max(language) FROM prompts HAVING count(DISTINCT language) = 1), a.language)
WHERE a.measure = 'entities' AND level IN ('model', 'model, language')
ORDER BY a.model, language NULLS FIRST, d.place;
