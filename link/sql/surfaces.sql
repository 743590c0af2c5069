-- A row is a distinct query of the current mentions, of counted kinds.
SELECT DISTINCT query, language, topic, kind, surface, name, english
FROM mentions
WHERE counted AND NOT hallucinated
ORDER BY query
