-- What became of everything that was asked
-- health: a row is a model and a language; what was asked and what became of it.
--   unasked: responses that were neither answered nor failed yet
--   unread: texts that were not yet extracted
--   found: mentions of counted kinds, hallucinated ones included
--   unlinked: mentions without an item: no_candidate + no_path
--   without_any_mention: texts that were extracted, where not one mention was found
-- printed: model, language, asked, answered, failed, refused, empty, cut, wrong_language, mentions, hallucinated,
-- linked, ambiguous, no_candidate, no_path
SELECT
    *,
    asked - answered - failed AS unasked,
    answered - extracted - extraction_failed AS unread,
    mentions + hallucinated AS found,
    no_candidate + no_path AS unlinked,
    CASE WHEN mentions = 0 THEN extracted ELSE 0 END AS without_any_mention
FROM health_by_language
ORDER BY model, language;
