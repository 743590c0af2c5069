-- Whether what stands before a question helps, as shares of answers by condition.
--
-- A study is what is counted together: answer_method, model, dataset, language, reader, prompt, question_type. A question
-- counts once under each condition: where its concepts are drawn several times, it is the mean of its draws.

-- relevance_read: a row is an answer under a condition and draw as one reader reads it; 'missing' where it was not asked
-- yet by a method and wording that asked others.
--   draw: which draw of the concepts, from 1
--   n_repeating: of these, how many repeat the right answer
--   status: 'ok', 'failed', or 'missing': not asked yet
CREATE VIEW relevance_read AS
WITH readings AS (
    SELECT
        answer_id, answer_method, model, dataset, question_type, reader, prompt, question_id, shown_id, reading, ground,
        role, status
    FROM relevance_answers
    UNION ALL
    SELECT
        a.answer_id, a.answer_method, a.model, a.dataset, a.question_type, r.reader, a.prompt, a.question_id, a.shown_id,
        r.reading, r.ground, r.role, a.status
    FROM relevance_answers AS a
    INNER JOIN relevance_readings AS r ON a.answer_id = r.answer_id
)
SELECT
    s.answer_method, c.model, c.dataset, c.language, s.reader, s.prompt, c.question_type, c.question_id, c.source_id,
    c.target, c.condition, c.draw, r.answer_id, r.reading, r.ground, r.role, coalesce(r.status, 'missing') AS status,
    len(c.concepts) AS n_concepts, len(c.repeating) AS n_repeating
FROM relevance_contexts AS c
INNER JOIN (SELECT DISTINCT answer_method, model, dataset, question_type, reader, prompt FROM readings) AS s
    ON (s.model, s.dataset, s.question_type) = (c.model, c.dataset, c.question_type)
LEFT JOIN readings AS r
    ON (r.answer_method, r.model, r.reader, r.prompt, r.question_id, r.shown_id)
        = (s.answer_method, c.model, s.reader, s.prompt, c.question_id, c.shown_id)
WHERE c.shown_id IS NOT NULL;

-- relevance_questions: a row is a question under a condition: the shares of its draws that came out so. `shared`: it was
-- answered, in all draws, under every condition that any question of the study was asked under.
--   draws: draws of the question's concepts
--   answered: draws that were answered
--   other: share that names one of the two other options
--   shared: answered, in all draws, under every condition of the study
CREATE VIEW relevance_questions AS
WITH questions AS (
    SELECT
        answer_method, model, dataset, language, reader, prompt, question_type, question_id, source_id, target, condition,
        count(*) AS draws,
        count(*) FILTER (status = 'ok') AS answered,
        count(*) FILTER (status = 'failed') AS failed,
        avg((role IS NOT DISTINCT FROM 'right')::DOUBLE) FILTER (status = 'ok') AS accuracy,
        avg((role IS NOT DISTINCT FROM 'biased')::DOUBLE) FILTER (status = 'ok') AS biased,
        avg((role IS NOT DISTINCT FROM 'other')::DOUBLE) FILTER (status = 'ok') AS other,
        avg((role IS NULL AND reading = 'refusal')::DOUBLE) FILTER (status = 'ok') AS refusal,
        avg((role IS NULL AND reading IS DISTINCT FROM 'refusal')::DOUBLE) FILTER (status = 'ok') AS out_of_choice,
        avg(n_concepts) AS n_concepts,
        avg((n_repeating > 0)::DOUBLE) AS gives_away
    FROM relevance_read
    GROUP BY ALL
),
conditions AS (
    SELECT answer_method, model, dataset, language, reader, prompt, question_type, count(DISTINCT condition) AS conditions
    FROM questions
    GROUP BY ALL
)
SELECT
    q.*,
    count(*) FILTER (q.answered = q.draws) OVER (
        PARTITION BY
            q.answer_method, q.model, q.dataset, q.language, q.reader, q.prompt, q.question_type, q.question_id
    ) = c.conditions AS shared
FROM questions AS q
INNER JOIN conditions AS c
    ON (c.answer_method, c.model, c.dataset, c.language, c.reader, c.prompt, c.question_type)
        = (q.answer_method, q.model, q.dataset, q.language, q.reader, q.prompt, q.question_type);

-- relevance_metrics: a row is the shares of answers under a condition: over the questions that all conditions have
-- (`basis` 'shared'), on which conditions are compared, or over all that this one has ('own'). NULL without an answer.
-- `others` is halved, as there are two other options: accuracy + biased + 2 others + refusal + out_of_choice = 1.
--   answered: questions with an answer
--   others: the same halved, as there are two of them
--   basis: 'shared': over the questions that all conditions have; 'own': over all of this one
--   asked: questions with their targets
--   questions: questions of BLEnD
--   mean_concepts: concepts that are shown, on average
CREATE VIEW relevance_metrics AS
SELECT
    answer_method, model, dataset, language, reader, prompt, question_type, condition, basis,
    count(*) AS asked,
    count(DISTINCT source_id) AS questions,
    count(*) FILTER (answered > 0) AS answered,
    sum(failed)::BIGINT AS failed,
    avg(accuracy) AS accuracy,
    avg(biased) AS biased,
    avg(other) / 2 AS others,
    avg(refusal) AS refusal,
    avg(out_of_choice) AS out_of_choice,
    avg(n_concepts) AS mean_concepts,
    avg(gives_away) AS gives_away
FROM (SELECT *, unnest(CASE WHEN shared THEN ['own', 'shared'] ELSE ['own'] END) AS basis FROM relevance_questions)
GROUP BY ALL;

-- relevance_not_asked: a row is why some questions are not asked under a condition, and how many these are.
--   not_asked: questions with their targets that are not asked
CREATE VIEW relevance_not_asked AS
SELECT model, dataset, language, question_type, condition, reason, count(DISTINCT question_id) AS not_asked
FROM relevance_contexts
WHERE reason IS NOT NULL
GROUP BY ALL;
