-- What is asked now of texts with swapped entities. From this and its declaration follow which answers count.

-- wanted_swap_texts: a row is one of `wanted_swaps` with its question and its text, by what the data set holds now. The right
-- sentiment is the one that the data set says now.
--   seed: the seed of draw 0
--   gold: what is right: of sentiment the label that the data set gives the context, else the entity
--   times: how often the text counts: its draw takes the entity so often, as its side has fewer than are drawn
CREATE VIEW wanted_swap_texts AS
SELECT
    w.request_id, w.sample, w.model, w.draw, w.times, q.*, c.dataset, c.culture, c.entity_type, c.setting, c.context_id,
    c.context, c.source_context_id, e.entity_id, e.entity, e.culture AS entity_culture, e.culture = c.culture AS native,
    CASE WHEN q.task = 'sentiment' THEN c.sentiment ELSE e.entity END AS gold
FROM wanted_swaps AS w
JOIN stored_swap_questions AS q USING (asked_id)
JOIN dataset_contexts AS c USING (context_id)
JOIN dataset_entities AS e USING (entity_id)
SEMI JOIN run_asked AS a -- of the text's language: one question may be asked in several, and anew in one of them
    ON a.instrument = 'swaps' AND a.id = w.asked_id AND a.what = concat_ws(' ', q.task, q.answer_method, c.language)
WHERE is_of_gender(e.gender, c.gender)
    AND (q.task <> 'sentiment' OR c.sentiment IS NOT NULL);
