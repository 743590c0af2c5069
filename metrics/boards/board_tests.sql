-- Of how many pairs of models a metric's difference could be tested, by the prompts and what the test is of.
SELECT
    metric, if(condition = '*', 'all prompts', condition) AS setting, target = 'new_prompts' AS of_new,
    any_value(tested + exact) AS tested, any_value(comparisons) AS pairs
FROM ranks WHERE measure = 'entities' AND dimension = 'model' GROUP BY ALL
