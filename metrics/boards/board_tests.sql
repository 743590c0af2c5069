-- Of how many pairs of models a board's difference could be tested, by what the test is of.
SELECT
    metric, if(measure = 'entities', '', concat_ws(', ', dataset, nullif(nullif(language, 'und'), '-'))) AS dataset,
    CASE
        WHEN measure = 'questions' THEN concat_ws(', ', if(method = 'scored', NULL, concat_ws(', ', method, reader)), facets['type'])
        WHEN condition = '*' THEN 'all prompts' ELSE condition
    END AS setting,
    target = 'new_prompts' AS of_new, any_value(tested + exact) AS tested, any_value(comparisons) AS pairs
FROM ranks
WHERE dimension = 'model' AND (
    measure = 'entities' OR (measure = 'questions' AND condition = '*' AND len(map_keys(facets)) = (facets['type'] IS NOT NULL)::INTEGER)
)
GROUP BY ALL
