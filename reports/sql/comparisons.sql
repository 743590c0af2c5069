-- Differences of models, languages and conditions, and of native languages
-- comparisons: a row is a difference of two sides, a less b, over the cells that both have, each with the same weight: of
-- new samples of the same prompts; where nothing was sampled, of new prompts like these. q is over all rows of one target.
--   family: what is compared: 'model', 'native by model', 'native by country', 'language' or 'condition'
--   a: the first side
--   b: the second side
--   robust_in: the selections of the texts under which the verdict is the same
--   robust_in_all: whether these are all selections
--   new_low: lower limit of the 95 % interval of new prompts like these
--   new_high: upper limit of the same
--   new_verdict: the verdict of new prompts; NULL where it is not that of every selection of the texts
--   new_freedom: the degrees of freedom of that interval
--   same_is_exact: whether nothing was sampled, so that the same prompts have no other difference
--   lacking: why new prompts like these cannot be tested; NULL where they can
-- printed: family, a, b, model, country, metric, condition, target, difference, low, high, q, verdict, robust_in
SELECT
    CASE WHEN dimension <> 'native' THEN dimension WHEN model = '*' THEN 'native by country' ELSE 'native by model' END AS family,
    a, b, nullif(model, '*') AS model, nullif(country, '*') AS country, metric, nullif(condition, '*') AS condition,
    target, a_estimate, b_estimate, difference, low, high, p, q, verdict, reason, new_low, new_high, new_verdict,
    new_freedom, lacking, same_is_exact, array_to_string(robust_in, ', ') AS robust_in, robust_in_all, unit, units, cells, naming,
    a_items, b_items, missing_a, missing_b, left_out, at_n, without_largest, topics, topics_same_sign, countries, countries_same_sign, a_model, b_model, a_language, b_language, tipping
FROM compared_sides
WHERE measure = 'entities' AND is_first
ORDER BY
    array_position(['model', 'native by model', 'native by country', 'language', 'condition'], family), metric, condition,
    model, country, a, b;
