-- health: a row is a model and a language; what was asked and what became of it.
SELECT
    *,
    asked - answered - failed AS unasked,
    answered - extracted - extraction_failed AS unread,
    mentions + hallucinated AS found,
    no_candidate + no_path AS unlinked,
    CASE WHEN mentions = 0 THEN extracted ELSE 0 END AS without_any_mention
FROM health_by_language
ORDER BY model, language;
