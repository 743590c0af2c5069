-- What became of everything that was asked
-- health: a row is a model and a language; what was asked and what became of it.
--   unasked: responses that were neither answered nor failed yet
--   unread: texts that were not yet extracted
--   found: mentions of counted kinds, hallucinated ones included
--   texts: answers that are neither blank nor refusals: distinct_texts + repeated
--   unlinked: mentions without an item: no_candidate + no_path
--   by_english: linked mentions to whose item the extractor's English name alone leads
--   disagreeing: linked mentions whose own words lead to the item, and whose English name matches another item of the topic
--   without_any_mention: texts that were extracted and are no refusal, where not one mention was found
--   silent: texts that were extracted, of a topic and wording in which not one mention was found, though others have some
--   answers_read: texts that an extractor which is a model read
--   cut_answers: of those, ones whose mentions the token limit cut
--   unknown_kinds: mentions that were dropped, since their kind is none of the topic's
--   named_or_dropped: mentions that the extractor listed, and those
--   listed: mentions of counted kinds that such an extractor listed, hallucinated ones included
--   unnamed: of those, ones without a dictionary form
--   declined_alone: answers that are refusals by the word of the extractor's model alone
--   declined_in_doubt: answers that this model takes for refusals, and the phrases of their language do not
--   most: texts that were extracted of the model that has the most in the language
--   fewer: how many fewer this model has
-- printed: model, language, asked, answered, failed, refused, empty, cut, wrong_language, mentions, hallucinated,
-- linked, ambiguous, no_candidate, no_path
WITH parts AS MATERIALIZED (
    SELECT model, language, topic, wording, sum(COLUMNS(* EXCLUDE (model, language, topic, condition, country, wording, model_versions)))::BIGINT
    FROM health
    GROUP BY ALL
),
whole AS (
    SELECT model, language, sum(COLUMNS(* EXCLUDE (model, language, topic, wording)))::BIGINT
    FROM parts
    GROUP BY ALL
),
silences AS (
    SELECT model, language, sum(extracted)::BIGINT AS silent FROM parts WHERE mentions = 0 GROUP BY ALL
),
english AS (
    SELECT model, language, sum(by_english)::BIGINT AS by_english, sum(disagreeing)::BIGINT AS disagreeing FROM resolution GROUP BY ALL
)
SELECT
    w.*,
    asked - answered - failed AS unasked,
    answered - extracted - extraction_failed - copied AS unread,
    mentions + hallucinated AS found,
    distinct_texts + repeated AS texts,
    no_candidate + no_path AS unlinked,
    coalesce(by_english, 0) AS by_english,
    coalesce(disagreeing, 0) AS disagreeing,
    coalesce(answers_read, 0) AS answers_read,
    coalesce(cut_answers, 0) AS cut_answers,
    coalesce(unknown_kinds, 0) AS unknown_kinds,
    coalesce(listed + unknown_kinds, 0) AS named_or_dropped,
    coalesce(listed, 0) AS listed,
    coalesce(unnamed, 0) AS unnamed,
    coalesce(declined_alone, 0) AS declined_alone,
    coalesce(declined_in_doubt, 0) AS declined_in_doubt,
    CASE WHEN mentions = 0 THEN greatest(extracted - refused, 0) ELSE 0 END AS without_any_mention,
    CASE WHEN mentions = 0 THEN 0 ELSE coalesce(silent, 0) END AS silent,
    max(extracted) OVER (PARTITION BY w.language) AS most,
    most - extracted AS fewer
FROM whole AS w
LEFT JOIN silences USING (model, language)
LEFT JOIN english USING (model, language)
LEFT JOIN extraction_losses USING (model, language)
ORDER BY model, language;
