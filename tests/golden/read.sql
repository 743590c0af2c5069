-- The numbers of the golden run, one query a measure: the only file here that changes when tables change.
--
-- Columns: measure, metric, facets (a STRUCT; what is NULL is left out), estimate, n (observations behind it), units (what
-- is resampled), low, high. Estimates, n and units go to golden/<measure>.tsv, low and high to golden/intervals.tsv.

-- Entities, a cell that has an estimate: n counts linked items once per response, units are responses.
SELECT
    'entities' AS measure, metric,
    {level: 'cell', model: model, language: language, other_language: facets['other_language'], topic: topic,
     condition: condition, country: nullif(country, 'none'), wording: wording} AS facets,
    estimate, n, units, low, high
FROM numbers
WHERE measure = 'entities' AND level = 'cell' AND estimate IS NOT NULL;

-- Means over cells, of the levels that pages show; units are cells.
SELECT
    'entities' AS measure, metric,
    {level: level, model: model, language: nullif(language, '*'), other_language: nullif(facets['other_language'], '*'),
     topic: nullif(topic, '*'), condition: nullif(condition, '*'), country: nullif(country, '*')} AS facets,
    estimate, n, cells AS units, low, high
FROM numbers
WHERE measure = 'entities' AND estimate IS NOT NULL
    AND level IN (
        'model', 'model, condition', 'model, topic', 'model, language', 'model, language, condition',
        'model, language, other_language'
    );

-- Curves of saturation.
SELECT
    'saturation' AS measure, 'saturation' AS metric,
    {model: model, language: language, topic: topic, condition: condition, country: country, wording: wording,
     responses: responses} AS facets,
    entities AS estimate, NULL AS n, responses AS units, NULL AS low, NULL AS high
FROM saturation;

-- What became of prompts, responses and mentions: counts, over topics, countries and wordings.
UNPIVOT (
    SELECT
        'health' AS measure, {model: model, language: language, condition: condition} AS facets,
        sum(asked)::BIGINT AS n, count(*) AS units, NULL::DOUBLE AS low, NULL::DOUBLE AS high,
        sum(answered)::DOUBLE AS answered, sum(failed)::DOUBLE AS failed, sum(refused)::DOUBLE AS refused,
        sum(cut)::DOUBLE AS cut, sum(off_language)::DOUBLE AS off_language, sum(extracted)::DOUBLE AS extracted,
        sum(mentions)::DOUBLE AS mentions, sum(hallucinated)::DOUBLE AS hallucinated, sum(linked)::DOUBLE AS linked,
        sum(ambiguous)::DOUBLE AS ambiguous, sum(no_candidate)::DOUBLE AS no_candidate, sum(no_path)::DOUBLE AS no_path
    FROM health
    GROUP BY ALL
) ON answered, failed, refused, cut, off_language, extracted, mentions, hallucinated, linked, ambiguous, no_candidate, no_path
INTO NAME metric VALUE estimate;

-- Links: how many surfaces came to which item.
SELECT
    'links' AS measure, status AS metric, {language: language, topic: topic, qid: qid} AS facets,
    count(DISTINCT (kind, surface))::DOUBLE AS estimate, NULL AS n, NULL AS units, NULL AS low, NULL AS high
FROM links
GROUP BY ALL;

-- Of what region texts are.
SELECT
    'texts' AS measure, outcome AS metric, {model: model, language: language, condition: condition, label: label} AS facets,
    count(*)::DOUBLE AS estimate, NULL AS n, NULL AS units, NULL AS low, NULL AS high
FROM text_regions
GROUP BY ALL;

-- Cultural Bias Scores of a type in a setting, every rule, and pairs that tie.
UNPIVOT (
    SELECT
        'cbs' AS measure,
        {level: 'type', rule: method, model: model, dataset: dataset, language: language, culture: country, type: topic,
         setting: condition, form: facets['form'], prefix: facets['context_prefix']} AS facets,
        n, units, NULL::DOUBLE AS low, NULL::DOUBLE AS high, estimate AS cbs, sizes['tied']::DOUBLE AS tied
    FROM numbers
    WHERE measure = 'cbs' AND metric = 'cbs' AND topic <> '*'
) ON cbs, tied INTO NAME metric VALUE estimate;

-- Their means and differences with intervals.
SELECT
    'cbs' AS measure, 'cbs_difference' AS metric,
    {level: 'mean', rule: method, model: model, dataset: dataset, language: nullif(language, '*'),
     culture: nullif(country, '*'), type: nullif(topic, '*'),
     setting: CASE dimension WHEN 'condition' THEN a ELSE condition END,
     other_setting: CASE dimension WHEN 'condition' THEN b END, form: facets['form'],
     prefix: CASE dimension WHEN 'context_prefix' THEN a ELSE facets['context_prefix'] END} AS facets,
    difference AS estimate, NULL AS n, units, low, high
FROM differences
WHERE measure = 'cbs' AND target = 'new_prompts' AND dimension IN ('condition', 'context_prefix')
UNION ALL
SELECT
    'cbs', metric,
    {level: 'mean', rule: method, model: model, dataset: dataset, language: nullif(language, '*'),
     culture: nullif(country, '*'), type: nullif(topic, '*'), setting: condition, other_setting: NULL,
     form: facets['form'], prefix: facets['context_prefix']},
    estimate, n, units, low, high
FROM numbers
WHERE measure = 'cbs' AND metric = 'cbs';

-- What pairs come to in a corpus.
SELECT
    'corpus' AS measure, if(metric = 'cbs', 'western_more', metric) AS metric,
    {rule: method, model: model, dataset: dataset, language: language, culture: country, type: nullif(topic, '*'),
     setting: condition, form: facets['form']} AS facets,
    estimate, n, units, low, high
FROM numbers
WHERE measure = 'cbs' AND starts_with(model, 'ngram:') AND language <> '*';

-- How far apart vectors lie.
SELECT
    'embeddings' AS measure, 'separation' AS metric,
    {model: model, dataset: dataset, language: language, culture: culture, type: entity_type, setting: setting, form: form,
     layer: layer, gender: gender} AS facets,
    estimate, native_entities + western_entities AS n, contexts AS units, NULL AS low, NULL AS high
FROM separations;

-- Shares of a vocabulary.
SELECT
    'tokens' AS measure, 'share' AS metric, {model: model, language: language, characters: characters, reading: reading} AS facets,
    share AS estimate, tokens AS n, own AS units, NULL AS low, NULL AS high
FROM vocabulary_shares;

-- Swapped texts: rates of each side, and their difference.
SELECT
    'swaps' AS measure, metric,
    {task: task, reading: reading, side: side, method: answer_method, model: model, dataset: dataset, language: language, culture: culture,
     type: entity_type, setting: setting, pooled: nullif(pooled, false), wording: wording} AS facets,
    estimate, n, units, low, high
FROM (
    SELECT
        *, contexts AS units, unnest(['native', 'western', 'difference']) AS side, unnest([native, western, difference]) AS estimate,
        unnest([native_answers, western_answers, native_answers + western_answers]) AS n,
        unnest([native_low, western_low, difference_low]) AS low, unnest([native_high, western_high, difference_high]) AS high
    FROM swap_rates
)
WHERE n IS NOT NULL;

-- Numbers of wrong labels, as the papers print them.
UNPIVOT (
    SELECT
        'swaps' AS measure,
        {counted: counted, method: answer_method, model: model, dataset: dataset, language: language, culture: culture,
         type: entity_type, setting: setting, pooled: pooled} AS facets,
        NULL::BIGINT AS n, draws AS units, NULL::DOUBLE AS low, NULL::DOUBLE AS high,
        native::DOUBLE AS native, western::DOUBLE AS western, difference::DOUBLE AS difference
    FROM sentiment_count_differences
) ON native, western, difference INTO NAME metric VALUE estimate;

-- Questions that a stereotype answers wrongly: every part, under each prompt and over all.
SELECT
    'bbq' AS measure, metric,
    {method: method, model: model, dataset: dataset, language: language, reader: reader,
     category: nullif(topic, '*'), label: facets['label'], prompt: nullif(wording, '*')} AS facets,
    estimate, sizes['answered'] AS n, units, low, high
FROM numbers
WHERE measure = 'questions' AND dataset IN ('kobbq', 'made-up') AND reader = 'ours';

-- Questions about cultures, and the tests of hypotheses about them.
SELECT
    'culture_mcq' AS measure, metric,
    {method: method, model: model, dataset: dataset, language: language, reader: reader, prompt: wording,
     type: facets['type'], country: nullif(country, '*'), level: facets['level'], region: facets['region'],
     also_given: facets['also_given'], hypothesis: facets['hypothesis'], side: facets['side'],
     test: facets['test']} AS facets,
    estimate, n, units, low, high
FROM numbers
WHERE measure = 'questions' AND dataset = 'culture-mcq' AND wording <> '*';

-- Cultural flattening of what layers hold.
SELECT
    'probe' AS measure, CASE metric WHEN 'flattening' THEN 'score' ELSE 'share' END AS metric,
    {model: model, dataset: dataset, language: language, arm: condition, filter: method, culture: country,
     toward: facets['toward']} AS facets,
    estimate, array_to_string(list_sort(list_distinct(list(country) OVER (PARTITION BY model, condition, method))), ', ') AS n,
    units, NULL::DOUBLE AS low, NULL::DOUBLE AS high
FROM numbers
WHERE measure = 'probe' AND metric IN ('flattening', 'flattening_share') AND estimate IS NOT NULL;

-- What is stored and what is said, by entity.
UNPIVOT (
    SELECT
        'knowledge' AS measure, {model: model, language: language, topic: topic, qid: qid} AS facets,
        NULL::BIGINT AS n, NULL::BIGINT AS units, NULL::DOUBLE AS low, NULL::DOUBLE AS high,
        generated::DOUBLE AS generated, probed::DOUBLE AS probed
    FROM entity_knowledge
) ON generated, probed INTO NAME metric VALUE estimate;

-- Leaderboards; their intervals are those of the measures above.
SELECT
    'boards' AS measure, metric,
    {task: task, dataset: dataset, language: language, culture: culture, type: entity_type, setting: setting,
     variant: variant, way: way, model: model} AS facets,
    estimate, NULL AS n, contexts AS units, NULL AS low, NULL AS high
FROM board_entries
WHERE task <> 'texts';
