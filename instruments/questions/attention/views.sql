-- Attention to options, beside what was chosen.

-- option_attention: a row is an option of a question, with the attention that it gets, and what a reader made of the answer
-- to the question with its options in the same order.
--   dataset: the question set
--   reader: who read the answer
--   type: which kind of questions of the set; '' where there is one
--   unit: what is sampled: a question of several countries
--   target: the country that is asked about
--   target_group: its resource level, or its region, by the type of the question; '' where the set does not say it
--   option: the option's index, from 0
--   of_options: how many options the question has
--   option_text: the option
--   option_group: the group of the culture whose answer the option is, where the set says it; else its role
--   option_role: 'right', or the option's role
--   weight: attention of the question's last token: mean over heads and layers, then the largest of the option's
--     tokens
--   z: weight less the mean of the question's options, over their standard deviation (ddof 0); NULL where all get
--     alike
--   tokens: tokens of the option
--   chosen: does the answer name this option? NULL where it names none
--   answers: is the chosen option the right one: 'right' or 'wrong'; NULL where none was chosen
CREATE VIEW option_attention AS
WITH options AS (
    SELECT
        *, unnest(range(len(scores))) AS place, scores[place + 1] AS weight, tokens[place + 1]::BIGINT AS tokens_of_option,
        "order"[place + 1] AS option
    FROM answers
    WHERE method = 'attention' AND status = 'ok'
),
weighed AS (
    SELECT
        a.*, q.set AS dataset, coalesce(q.facets['type'], '') AS type, q.unit, q.facets,
        q.options[a.option + 1] AS option_text,
        coalesce(string_split(q.facets['groups'], '; ')[a.option + 1], q.roles[a.option + 1]) AS option_group,
        CASE WHEN list_contains(q."right", a.option) THEN 'right' ELSE q.roles[a.option + 1] END AS option_role,
        (weight - avg(weight ORDER BY weight) OVER question)
            / nullif(stddev_pop(weight ORDER BY weight) OVER question, 0) AS z
    FROM options AS a
    INNER JOIN questions AS q ON q.question_id = a.question_id
    WINDOW question AS (PARTITION BY a.answer_id)
)
SELECT
    w.model, w.dataset, w.language, r.reader, w.prompt, w.type, w.question_id, w.unit,
    w.facets['country'] AS target,
    coalesce(CASE w.type WHEN 'region' THEN w.facets['region'] ELSE w.facets['level'] END, '') AS target_group, w.option,
    len(w.scores) AS of_options, w.option_text, w.option_group, w.option_role, w.weight, w.z, w.tokens_of_option AS tokens,
    CASE WHEN r.picked IS NOT NULL THEN r.picked = w.option END AS chosen,
    CASE WHEN r.picked IS NOT NULL THEN CASE WHEN r."right" THEN 'right' ELSE 'wrong' END END AS answers
FROM weighed AS w
LEFT JOIN question_readings AS r
    ON (r.method, r.model, r.wording, r.question_id, r."order")
        = ('generated', w.model, w.prompt, w.question_id, w."order")
    AND r.outcome <> 'failed' AND r.reader <> '-' AND r.sample = 0;
