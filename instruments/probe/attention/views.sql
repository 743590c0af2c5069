-- Attention to options, beside what was chosen.

-- option_attention: a row is an option of a question, with the attention that it gets, and what a reader made of the answer
-- to the question with its options as they stand.
--   measure: 'weight' of attention, or 'norm' of the weighted value through the output projection
--   method: 'generated': as a model writes an answer, through its chat template; 'text': the message as it stands, as
--     options are scored behind it
--   dataset: the question set
--   reader: who read the answer: 'ours' of texts, 'sum', 'mean' or 'corrected' of likelihoods
--   type: which kind of questions of the set; '' where there is one
--   unit: what is sampled: a question of several countries
--   target: the country that is asked about
--   target_level: its resource level, where the set says it
--   target_region: its region, where the set says it
--   option: the option's place, from 0
--   option_text: the option
--   option_group: the group of the culture whose answer the option is, where the set says it; else its role
--   option_role: 'right', or the option's role
--   weight: attention of the question's last token: mean over heads and layers, then the largest of the option's
--     tokens
--   z: weight less the mean of the question's options, over their standard deviation (ddof 0); NULL where all get
--     alike
--   place_z: z less the mean z of its place in the list, over all questions of the type in one wording: what is left is
--     not due to where an option stands; NULL where z is
--   tokens: tokens of the option
--   chosen: does the answer name this option? NULL where it names none
--   answers: is the chosen option the right one: 'right' or 'wrong'; NULL where none was chosen
CREATE VIEW option_attention AS
WITH weighed AS (
    SELECT
        a.*, q.set AS dataset, coalesce(q.facets['type'], '') AS type, q.unit, q.facets,
        q.options[a.option + 1] AS option_text,
        coalesce(string_split(q.facets['groups'], '; ')[a.option + 1], q.roles[a.option + 1]) AS option_group,
        CASE WHEN list_contains(q."right", a.option) THEN 'right' ELSE q.roles[a.option + 1] END AS option_role,
        (weight - avg(weight) OVER question) / nullif(stddev_pop(weight) OVER question, 0) AS z
    FROM attention AS a
    INNER JOIN questions AS q ON q.question_id = a.question_id
    WHERE a.status = 'ok'
    WINDOW question AS (PARTITION BY a.request_id, a.question_id, a.prompt, a.measure)
),
placed AS (
    SELECT
        *,
        z - avg(z) OVER (
            PARTITION BY measure, method, model, dataset, language, prompt, type, option
        ) AS place_z
    FROM weighed
)
SELECT
    w.measure, w.method, w.model, w.dataset, w.language, r.reader, w.prompt, w.type, w.question_id, w.unit,
    w.facets['country'] AS target, w.facets['level'] AS target_level, w.facets['region'] AS target_region, w.option,
    w.option_text, w.option_group, w.option_role, w.weight, w.z, w.place_z, w.tokens,
    CASE WHEN r.picked IS NOT NULL THEN r.picked = w.option END AS chosen,
    CASE WHEN r.picked IS NOT NULL THEN CASE WHEN r."right" THEN 'right' ELSE 'wrong' END END AS answers
FROM placed AS w
LEFT JOIN question_readings AS r
    ON (r.method, r.model, r.wording, r.question_id) = (w.method, w.model, w.prompt, w.question_id)
    AND r.outcome <> 'failed' AND r.reader <> '-' AND r.sample = 0 AND r."order" = range(len(r."order"));

-- attention_map: a row is the mean z, and the mean place_z, of the options of a group in questions about a target, of right
-- or of wrong answers: of those that were chosen (`options` 'chosen'), or of all ('all').
--   measure: 'weight' of attention, or 'norm' of the weighted value through the output projection
--   method: 'generated': as a model writes an answer, through its chat template; 'text': the message as it stands, as
--     options are scored behind it
--   dataset: the question set
--   reader: who read the answer: 'ours' of texts, 'sum', 'mean' or 'corrected' of likelihoods
--   type: which kind of questions of the set; '' where there is one
--   answers: 'right' or 'wrong'
--   options: 'chosen': the options that were chosen; 'all': all of them
--   target: the country that is asked about
--   target_group: the level or the region of the target, by the type of the question
--   option_group: the group of the culture whose answer the option is, where the set says it; else its role
--   n_options: options that the mean is over
--   mean_z: mean z of these options
--   mean_place_z: mean place_z of these options: adjusted for where they stand in the list
CREATE VIEW attention_map AS
SELECT
    measure, method, model, dataset, language, reader, prompt, type, answers, options, coalesce(target, '') AS target,
    coalesce(CASE type WHEN 'region' THEN target_region ELSE target_level END, '') AS target_group, option_group,
    count(*) AS n_options, avg(z) AS mean_z, avg(place_z) AS mean_place_z
FROM (SELECT *, unnest(CASE WHEN chosen THEN ['all', 'chosen'] ELSE ['all'] END) AS options FROM option_attention)
WHERE z IS NOT NULL AND answers IS NOT NULL
GROUP BY ALL;
