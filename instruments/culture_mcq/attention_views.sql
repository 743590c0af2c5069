-- Attention to options, beside what was chosen.

-- culture_mcq_option_attention: a row is an option of a question, with the attention that it gets, and what a reader made of
-- the answer. `z` is the weight less the mean of the question's options, over their standard deviation (ddof 0); NULL where
-- all get alike. `place_z` is z less the mean of its place over the questions that the model was asked so: what is left is
-- not due to where an option stands. `answers` is 'right' or 'wrong' of what was chosen; NULL where no option was.
--   measure: 'weight' of attention, or 'norm' of the weighted value through the output projection
--   answer_method: 'generated': as a model writes an answer, through its chat template; 'text': the message as it
--     stands, as options are scored behind it
--   reader: who read the answer: 'words' of texts, 'sum', 'mean' or 'corrected' of likelihoods
--   prompt: the name of the wording
--   option: the option's place as it is shown, from 1
--   option_text: the option
--   option_country: whose answer the option is
--   option_group: the level or the region of that country, by the type of the question
--   option_role: 'right', 'biased' or 'other'
--   weight: attention of the question's last token: mean over heads and layers, then the largest of the option's
--     tokens
--   z: weight less the mean of the question's options, over their standard deviation (ddof 0); NULL where all get
--     alike
--   place_z: z less the mean z of its place in the list, over all questions of the type in one wording; NULL where z
--     is
--   tokens: tokens of the option
--   chosen: does the answer name this option? NULL where it names none
--   answers: is the chosen option the right one: 'right' or 'wrong'; NULL where none was chosen
CREATE VIEW culture_mcq_option_attention AS
WITH weighed AS (
    SELECT
        *,
        (weight - avg(weight) OVER question) / nullif(stddev_pop(weight) OVER question, 0) AS z
    FROM culture_mcq_attention
    WHERE status = 'ok'
    WINDOW question AS (PARTITION BY asked_id, model, question_id)
),
placed AS (
    SELECT
        *,
        z - avg(z) OVER (
            PARTITION BY asked_id, measure, answer_method, model, dataset, language, prompt, question_type, option
        ) AS place_z
    FROM weighed
)
SELECT
    w.measure, w.answer_method, w.model, w.dataset, w.language, r.reader, w.prompt, w.question_type, w.question_id,
    w.source_id, w.target, w.target_level, w.target_region, w.option, q.choices[w.option] AS option_text,
    q.choice_countries[w.option] AS option_country, q.choice_groups[w.option] AS option_group,
    CASE w.option - 1 WHEN q."right" THEN 'right' WHEN q.biased THEN 'biased' ELSE 'other' END AS option_role,
    w.weight, w.z, w.place_z, w.tokens,
    CASE WHEN r.role IS NOT NULL THEN r.reading = w.option::VARCHAR END AS chosen,
    CASE WHEN r.role = 'right' THEN 'right' WHEN r.role IS NOT NULL THEN 'wrong' END AS answers
FROM placed AS w
JOIN culture_mcq_questions AS q ON q.question_id = w.question_id
LEFT JOIN culture_mcq_read AS r
    ON (r.answer_method, r.model, r.dataset, r.language, r.prompt, r.question_id)
        = (w.answer_method, w.model, w.dataset, w.language, w.prompt, w.question_id)
    AND r.status = 'ok';

-- culture_mcq_attention_map: a row is the mean z, and the mean place_z, of the options of a group (a resource level or a region) in questions about
-- a target, of right or of wrong answers: of those that were chosen (`options` 'chosen'), or of all ('all').
--   measure: 'weight' of attention, or 'norm' of the weighted value through the output projection
--   answer_method: 'generated': as a model writes an answer, through its chat template; 'text': the message as it
--     stands, as options are scored behind it
--   reader: who read the answer: 'words' of texts, 'sum', 'mean' or 'corrected' of likelihoods
--   prompt: the name of the wording
--   answers: 'right' or 'wrong'
--   options: 'chosen': the options that were chosen; 'all': all four
--   target_group: the level or the region of the target, by the type of the question
--   option_group: the level or the region of the countries whose answers the options are
--   n_options: options that the mean is over
--   mean_z: mean z of these options
--   mean_place_z: mean place_z of these options: adjusted for where they stand in the list
CREATE VIEW culture_mcq_attention_map AS
SELECT
    measure, answer_method, model, dataset, language, reader, prompt, question_type, answers, options, target,
    CASE question_type WHEN 'resource' THEN target_level ELSE target_region END AS target_group, option_group,
    count(*) AS n_options, avg(z) AS mean_z, avg(place_z) AS mean_place_z
FROM (SELECT *, unnest(CASE WHEN chosen THEN ['all', 'chosen'] ELSE ['all'] END) AS options
      FROM culture_mcq_option_attention)
WHERE z IS NOT NULL AND answers IS NOT NULL
GROUP BY ALL;
