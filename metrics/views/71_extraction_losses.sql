-- extraction_losses: a row is a model and a language of which a model has extracted mentions; what was lost on the way from the
-- extractor's answers to the mentions that count. Losses that differ between languages or models are differences of the
-- numbers, too.
--   answers_read: responses that the extractor read
--   cut_answers: of those, the answer was cut by the token limit and no longer one came: mentions may be missing
--   asked_again: of those, at least one answer was cut or unusable before: it cost money, and nothing is lost
--   unknown_kinds: mentions that were dropped, since their kind is none of the topic's
--   unreadable: parts of lists that could not be read, and were dropped
--   listed: mentions of counted kinds that the answers list, hallucinated ones included
--   not_in_the_text: of those, hallucinated ones: in no metric
--   unnamed: of those, ones without a dictionary form, as in answers that give text and kind alone: fewer of them are linked
--   unread_answers: responses of which no answer could be read
--   echoed: of those, the last answer only gives back the form that was asked for
--   declined_texts: responses of which the extractor says that they decline their task
--   declined_alone: of those, ones in a language without phrases of refusals: they are refusals by the extractor's word alone
--   declined_in_doubt: of those, ones in a language with phrases, of which none is found in the text: they are no refusals
CREATE VIEW extraction_losses AS
WITH answers AS (
    SELECT
        e.model, e.language,
        count(*) FILTER (e.status = 'ok') AS answers_read,
        count(*) FILTER (e.status = 'ok' AND cut) AS cut_answers,
        count(*) FILTER (e.status = 'ok' AND attempts > 1) AS asked_again,
        coalesce(sum(unknown_kinds), 0)::BIGINT AS unknown_kinds,
        coalesce(sum(unreadable), 0)::BIGINT AS unreadable,
        count(*) FILTER (e.status = 'failed') AS unread_answers,
        count(*) FILTER (e.status = 'failed' AND starts_with(e.error, 'the answer gives back the form')) AS echoed,
        count(*) FILTER (declined) AS declined_texts,
        count(*) FILTER (declined AND r.refused IS NULL) AS declined_alone,
        count(*) FILTER (declined AND NOT r.refused) AS declined_in_doubt
    FROM extractions AS e
    LEFT JOIN responses AS r ON r.request_id = e.request_id AND r.sample = e.sample
    WHERE reader_id IS NOT NULL
    GROUP BY ALL
),
lists AS (
    SELECT
        model, language, count(*) AS listed, count(*) FILTER (hallucinated) AS not_in_the_text,
        count(*) FILTER (name IS NULL) AS unnamed
    FROM mentions
    WHERE reader_id IS NOT NULL AND counted
    GROUP BY ALL
)
SELECT
    model, language, answers_read, cut_answers, asked_again, unknown_kinds, unreadable,
    coalesce(listed, 0) AS listed, coalesce(not_in_the_text, 0) AS not_in_the_text, coalesce(unnamed, 0) AS unnamed,
    unread_answers, echoed, declined_texts, declined_alone, declined_in_doubt
FROM answers
LEFT JOIN lists USING (model, language);
