-- Models and languages by rank
-- ranks: a row is a model, or a language, in one metric, with the ranks that its differences on the same prompts leave open;
-- where these cannot be tested and are not exact, those on new prompts;
-- culture specificity and its gain are those of prompts that name the country.
-- printed: dimension, metric, name, rank_low, rank_high
SELECT dimension, metric, name, ranked, rank_low, rank_high
FROM ranks
WHERE measure = 'entities' AND condition IN ('*', 'explicit') AND (tested > 0 OR exact > 0)
QUALIFY (target = 'same_prompts') = bool_or(target = 'same_prompts') OVER (PARTITION BY dimension, metric)
ORDER BY dimension DESC, metric, rank_low, rank_high, name;
