-- Answers of models that are ranked, a few of each model to each set, language and method
-- ranked_quotes: a row is an answer, and what readers find in it. All models have the same questions, where they answered
-- them: those with the lowest hash, each as it was asked first, as good as by chance, and always the same.
--   readings: by reader, the option that it finds, or why it finds none; of an open question how far it matches
--   $most = 3: of a model, set, language and method, at most
WITH answered AS (
    SELECT
        a.answer_id, a.model, q.set AS dataset, q.language, a.method, a.prompt, q.question_id, q.context, q.text, q.options, a.shown,
        a.raw
    FROM read_answers AS a INNER JOIN questions AS q USING (question_id)
    WHERE a.status = 'ok' AND a.method <> 'scored'
    QUALIFY row_number() OVER (
        PARTITION BY a.model, a.method, question_id ORDER BY md5(concat_ws(' ', a.prompt, a."order"::VARCHAR, a.sample))
    ) = 1
),
chosen AS (
    FROM answered
    QUALIFY row_number() OVER (PARTITION BY model, dataset, language, method ORDER BY md5(question_id)) <= $most
),
found AS (
    SELECT r.answer_id, list({
        'reader': r.reader, 'outcome': r.outcome, 'right': r."right", 'matched': r.matched, 'ground': r.ground,
        'option': CASE WHEN r.picked IS NOT NULL THEN c.options[r.picked + 1] END
    } ORDER BY r.reader) AS readings
    FROM question_readings AS r INNER JOIN chosen AS c USING (answer_id)
    WHERE r.reader <> '-'
    GROUP BY r.answer_id
)
SELECT c.* EXCLUDE (options), coalesce(readings, []) AS readings
FROM chosen AS c LEFT JOIN found USING (answer_id)
ORDER BY c.model, c.dataset, c.language, c.method, md5(c.question_id);
