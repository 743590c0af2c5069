-- Numbers of question sets with their intervals, as people read them.

-- question_scores: a row is a number of a set as a model answers it, by a reader: over prompts or under one of them, with
-- its 95 % interval over other questions like these, and over other prompts where there are several, or the reason why it
-- has none. Where fewer than half of the answers that a number is of are read, there is no number.
--   part: 'all', or the facet that the questions have a value of
--   value: which category, country, level, ...; NULL: all questions
--   prompt: its name, '-' of sentences and gaps, which have none; NULL: the mean over prompts
--   condition: what stands before the questions, where a set has several; and of which type they are
--   as_unknown: a bias or `acc_a` if unread answers that name no option are counted as 'unknown'; where neither the sign of a
--     bias nor whether its interval holds 0 depends on that, NULL
--   as_unknown_from: the lower limit of its 95 % interval
--   as_unknown_to: the upper limit
--   declared: how the set's rules declare the number, where it is a set's own: `NAME = SHARE`
--   n: answers behind the number; of pairs and orders, questions; NULL of a bound
--   of_prompts: prompts that the number is a mean over
--   unread: answers that pick no option, refusals and ties among them, of all that came; of open questions empty ones
--   undirected: questions of which nobody knows whom the stereotype is about: they are in accuracy, and in no bias
CREATE VIEW question_scores AS
WITH declarations AS (
    SELECT DISTINCT set AS dataset, trim(split_part(declared, '=', 1)) AS metric, declared
    FROM (SELECT set, unnest(numbers) AS declared FROM questions)
    WHERE contains(declared, '=')
),
parts AS (
    SELECT
        *,
        list_filter(map_keys(facets), lambda name: name <> 'type') AS names,
        sizes['refusal'] + sizes['tie'] + sizes['unread'] AS lost
    FROM numbers
    WHERE measure = 'questions' AND facets['test'] IS NULL AND NOT ends_with(metric, '_as_unknown')
),
bounds AS (
    SELECT
        level, dataset, language, model, method, reader, country, topic, wording, condition, facets,
        replace(metric, '_as_unknown', '') AS metric, estimate AS as_unknown, low AS as_unknown_from, high AS as_unknown_to
    FROM numbers
    WHERE measure = 'questions' AND ends_with(metric, '_as_unknown')
)
SELECT
    dataset, nullif(language, '-') AS language, model, method, reader,
    CASE WHEN country <> '*' THEN 'country' WHEN topic <> '*' THEN 'category' ELSE coalesce(names[1], 'all') END AS part,
    CASE WHEN country <> '*' THEN country WHEN topic <> '*' THEN topic ELSE facets[names[1]] END AS value,
    nullif(wording, '*') AS prompt, nullif(concat_ws(', ', nullif(condition, '-'), facets['type']), '') AS condition,
    metric, estimate, low, high, no_estimate, no_interval, as_unknown, as_unknown_from, as_unknown_to, nullif(n, 0) AS n, units, cells AS of_prompts,
    CASE WHEN sizes['answered'] > 0 THEN round(lost / sizes['answered'], 3) END AS unread,
    nullif(sizes['undirected'], 0) AS undirected, sizes['answered'] AS answered, sizes['failed'] AS failed, declared
FROM parts
LEFT JOIN declarations USING (dataset, metric)
LEFT JOIN bounds USING (level, dataset, language, model, method, reader, country, topic, wording, condition, facets, metric);
