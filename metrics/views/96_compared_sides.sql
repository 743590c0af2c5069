-- compared_sides: a row is a comparison of two sides with one target: the difference over all texts, and under which
-- selections of the texts its verdict is the same.
--   target: 'same_prompts': new samples of the same prompts; 'new_prompts': new prompts like them
--   robust_in: the selections under which the verdict is that of all texts
--   robust_in_all: whether these are all of them: only then a sentence says so
--   is_first: whether this is the target that is told first: 'same_prompts', but where new prompts alone can be tested
--   new_low: lower limit of the 95 % interval of new prompts like these
--   new_high: upper limit of the same
--   new_verdict: the verdict of new prompts; NULL where it is not that of every selection of the texts
--   new_freedom: the degrees of freedom of that interval
--   same_is_exact: whether nothing was sampled, so that the same prompts have no other difference
--   lacking: why new prompts like these cannot be tested; NULL where they can
CREATE VIEW compared_sides AS
WITH targets AS (
    SELECT
        measure, metric, dimension, a, b, target, model, dataset, language, country, topic, condition, wording, method, reader, facets,
        any_value(COLUMNS([
            'a_estimate', 'b_estimate', 'difference', 'low', 'high', 'p', 'q', 'reason', 'verdict', 'unit', 'units', 'cells',
            'missing_a', 'missing_b', 'left_out', 'at_n', 'without_largest', 'topics', 'topics_same_sign', 'countries',
            'countries_same_sign', 'a_model', 'b_model', 'a_language', 'b_language', 'tipping', 'chance', 'naming', 'a_items', 'b_items', 'freedom'
        ])) FILTER (selection = 'all'),
        list({'selection': selection, 'verdict': verdict} ORDER BY selection) AS verdicts
    FROM differences
    GROUP BY ALL
)
SELECT
    * EXCLUDE (verdicts),
    [one.selection FOR one IN verdicts IF one.verdict = verdict] AS robust_in,
    len(robust_in) = len(verdicts) AS robust_in_all,
    (target = 'same_prompts') = (
        coalesce(bool_or(target = 'same_prompts' AND p IS NOT NULL) OVER comparison, false)
        OR NOT coalesce(bool_or(target = 'new_prompts' AND p IS NOT NULL) OVER comparison, false)
    ) AS is_first,
    max(CASE WHEN target = 'new_prompts' THEN low END) OVER comparison AS new_low,
    max(CASE WHEN target = 'new_prompts' THEN high END) OVER comparison AS new_high,
    max(CASE WHEN target = 'new_prompts' AND robust_in_all THEN verdict END) OVER comparison AS new_verdict,
    max(CASE WHEN target = 'new_prompts' THEN freedom END) OVER comparison AS new_freedom,
    coalesce(bool_or(target = 'same_prompts' AND reason = 'no sampling') OVER comparison, false) AS same_is_exact,
    max(CASE WHEN target = 'new_prompts' THEN reason END) OVER comparison AS lacking
FROM targets
WINDOW comparison AS (
    PARTITION BY measure, metric, dimension, a, b, model, dataset, language, country, topic, condition, wording, method, reader, facets
);

-- ranked_sides: a row of `compared_sides` of two models, or two languages, in a metric that the run's sources do not fix.
--   board: all that makes a ranking: measure, metric, dimension, target and the facets
--   exact: whether nothing was sampled: the difference itself decides, over all texts
--   verdict: as in `differences`; of an exact difference its sign
CREATE VIEW ranked_sides AS
SELECT
    {'measure': measure, 'metric': metric, 'dimension': dimension, 'target': target, 'model': model, 'dataset': dataset,
     'language': language, 'country': country, 'topic': topic, 'condition': condition, 'wording': wording, 'method': method,
     'reader': reader, 'facets': facets} AS board,
    a, b, a_estimate, b_estimate, p, robust_in_all, coalesce(reason, '') = 'no sampling' AS exact,
    if(exact, if(difference > 0, 'higher', if(difference < 0, 'lower', verdict)), verdict) AS verdict
FROM compared_sides
WHERE dimension IN ('model', 'language') AND coalesce(reason, '') <> 'constant by construction';

-- ranked_pairs: a row is two models, or two languages, of which one is told to be above the other in a metric: under every
-- selection of the texts, by the difference of the two, or by those of each with the rest, one above and one below.
--   board: what was compared
--   better: the one above
--   worse: the other one
CREATE VIEW ranked_pairs AS
WITH told AS (
    SELECT board, a, b, robust_in_all AND verdict = 'higher' AS above, robust_in_all AND verdict = 'lower' AS below
    FROM ranked_sides
)
SELECT board, if(above, a, b) AS better, if(above, b, a) AS worse FROM told WHERE b <> 'the rest' AND (above OR below)
UNION
SELECT board, w.a, l.a
FROM told AS w
INNER JOIN told AS l USING (board)
WHERE w.b = 'the rest' AND l.b = 'the rest' AND w.above AND l.below;

-- ranks: a row is a model, or a language, among those that were compared in one metric, with the ranks that the differences
-- leave open. One is above another where the difference says so under every selection of the texts: that of the two, or
-- those of each with the rest, one above and one below. Those with the same ranks are tied; one without a number has none.
--   name: the model or the language
--   target: of the differences that rank: 'same_prompts' or 'new_prompts', as in compared_sides
--   ranked: how many there are
--   rank_low: the best rank, from 1: one more than those that are above
--   rank_high: the worst rank
--   tested: comparisons that have an interval
--   exact: comparisons of which nothing was sampled
--   comparisons: all of them
CREATE VIEW ranks AS
WITH entries AS (
    SELECT board, a AS name FROM ranked_sides WHERE a_estimate IS NOT NULL
    UNION
    SELECT board, b FROM ranked_sides WHERE b <> 'the rest' AND b_estimate IS NOT NULL
),
sizes AS (SELECT board, count(*) AS ranked FROM entries GROUP BY ALL),
tests AS (SELECT board, count(p) AS tested, count(*) FILTER (exact) AS exact, count(*) AS comparisons FROM ranked_sides GROUP BY ALL),
losses AS (SELECT board, worse AS name, count(*) AS losses FROM ranked_pairs GROUP BY ALL),
wins AS (SELECT board, better AS name, count(*) AS wins FROM ranked_pairs GROUP BY ALL)
SELECT
    unnest(board), name, ranked, 1 + coalesce(losses, 0) AS rank_low, ranked - coalesce(wins, 0) AS rank_high, tested, exact, comparisons
FROM entries
INNER JOIN sizes USING (board)
INNER JOIN tests USING (board)
LEFT JOIN losses USING (board, name)
LEFT JOIN wins USING (board, name);
