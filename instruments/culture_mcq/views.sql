-- Accuracy and bias of answers about cultures, as counts of what was chosen.
--
-- A study is what is counted together: answer_method, model, dataset, language, reader, prompt, question_type. The two
-- types are never pooled, as the biased option is of the highest resource level in one, and of the target's region in the
-- other; nor are wordings.

-- culture_mcq_read: a row is an answer as one reader reads it: the one that was there when it came, or a later one.
--   also_given: did annotators of the target give a wrong option, too: 'yes', 'no' or 'not known'
--   answer_method: 'generated': the model wrote; 'text': the likelihood of the option's text
--   prompt: the name of the wording
--   ground: why it is read so: 'term', 'explicit', 'named', 'several', 'denied', 'refusal', 'empty', 'other'; of
--     likelihoods 'likeliest' or 'tie'
--   role: of the option that was read: 'right', 'biased' or 'other'; NULL where none was
--   reading: '1' to '4' as the options were shown, 'out-of-choice' or 'refusal'
--   reader: who read the answer: 'words' of texts, 'sum', 'mean' or 'corrected' of likelihoods
CREATE VIEW culture_mcq_read AS
WITH readings AS (
    SELECT
        answer_method, model, dataset, language, reader, question_type, question_id, source_id, target, target_level,
        target_region, prompt, reading, ground, role, status
    FROM culture_mcq_answers
    UNION ALL
    SELECT
        a.answer_method, a.model, a.dataset, a.language, r.reader, a.question_type, a.question_id, a.source_id, a.target,
        a.target_level, a.target_region, a.prompt, r.reading, r.ground, r.role, a.status
    FROM culture_mcq_answers AS a
    INNER JOIN culture_mcq_readings AS r ON a.answer_id = r.answer_id
)
SELECT
    r.*,
    CASE WHEN q.also_given IS NULL THEN 'not known' WHEN len(q.also_given) > 0 THEN 'yes' ELSE 'no' END AS also_given
FROM readings AS r
LEFT JOIN culture_mcq_questions AS q ON q.question_id = r.question_id;

-- culture_mcq_counts: a row is the counts of a part of the questions: `part` is 'overall', 'level', 'target', or
-- 'also given' (whether annotators of the target gave a wrong option, too: 'yes', 'no' or 'not known'); `name` says which
-- one (NULL overall). n_right + n_biased + n_other + n_refused + n_out = answered; failed: no answer came.
--   prompt: the name of the wording
--   answer_method: 'generated': the model wrote; 'text': the likelihood of the option's text
--   part: 'overall', 'level', 'target' or 'also given'
--   name: which level or target; of 'also given', whether annotators of the target gave a wrong option, too
--   questions: questions that were asked
--   asked: answers asked for
--   answered: answers that came
--   failed: answers that did not come
--   reader: who read the answer: 'words' of texts, 'sum', 'mean' or 'corrected' of likelihoods
CREATE VIEW culture_mcq_counts AS
WITH parts AS (
    SELECT
        *,
        unnest([
            {'part': 'overall', 'name': NULL}, {'part': 'level', 'name': target_level},
            {'part': 'target', 'name': target}, {'part': 'also given', 'name': also_given}
        ], recursive := true)
    FROM culture_mcq_read
)
SELECT
    answer_method, model, dataset, language, reader, prompt, question_type, part, name,
    count(DISTINCT question_id) AS questions,
    count(*) AS asked,
    count(*) FILTER (status = 'ok') AS answered,
    count(*) FILTER (status <> 'ok') AS failed,
    count(*) FILTER (status = 'ok' AND role = 'right') AS n_right,
    count(*) FILTER (status = 'ok' AND role = 'biased') AS n_biased,
    count(*) FILTER (status = 'ok' AND role = 'other') AS n_other,
    count(*) FILTER (status = 'ok' AND role IS NULL AND reading = 'refusal') AS n_refused,
    count(*) FILTER (status = 'ok' AND role IS NULL AND reading IS DISTINCT FROM 'refusal') AS n_out
FROM parts
GROUP BY ALL;

-- culture_mcq_metrics: a row is the shares of a part of the questions, of the answers that came; NULL without one.
-- `others` is halved, as there are two other options: accuracy + biased + 2 others + refusal + out_of_choice = 1.
--   prompt: the name of the wording
--   answer_method: 'generated': the model wrote; 'text': the likelihood of the option's text
--   part: 'overall', 'level', 'target' or 'also given'
--   name: which level or target; of 'also given', whether annotators of the target gave a wrong option, too
--   questions: questions that were asked
--   asked: answers asked for
--   answered: answers that came
--   failed: answers that did not come
--   out_of_choice: n_out / answered
--   reader: who read the answer: 'words' of texts, 'sum', 'mean' or 'corrected' of likelihoods
--   accuracy: n_right / answered
--   biased: n_biased / answered
--   others: n_other / answered / 2, as there are two other options
--   refusal: n_refused / answered
CREATE VIEW culture_mcq_metrics AS
SELECT
    *,
    n_right / nullif(answered, 0) AS accuracy,
    n_biased / nullif(answered, 0) AS biased,
    n_other / nullif(2 * answered, 0) AS others,
    n_refused / nullif(answered, 0) AS refusal,
    n_out / nullif(answered, 0) AS out_of_choice
FROM culture_mcq_counts;

-- culture_mcq_question_counts: a row is the counts of one question of BLEnD about a target; intervals and tests are made
-- of these.
--   also_given: did annotators of the target give a wrong option, too: 'yes', 'no' or 'not known'
--   prompt: the name of the wording
--   answer_method: 'generated': the model wrote; 'text': the likelihood of the option's text
--   answered: answers that came
--   reader: who read the answer: 'words' of texts, 'sum', 'mean' or 'corrected' of likelihoods
CREATE VIEW culture_mcq_question_counts AS
SELECT
    answer_method, model, dataset, language, reader, prompt, question_type, source_id, target, target_level, also_given,
    count(*) FILTER (status = 'ok') AS answered,
    count(*) FILTER (status = 'ok' AND role = 'right') AS n_right,
    count(*) FILTER (status = 'ok' AND role = 'biased') AS n_biased,
    count(*) FILTER (status = 'ok' AND role = 'other') AS n_other,
    count(*) FILTER (status = 'ok' AND role IS NULL AND reading = 'refusal') AS n_refused,
    count(*) FILTER (status = 'ok' AND role IS NULL AND reading IS DISTINCT FROM 'refusal') AS n_out
FROM culture_mcq_read
GROUP BY ALL;
