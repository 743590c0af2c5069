-- A row is a distinct surface of the current mentions, of counted kinds.
SELECT DISTINCT language, topic, kind, surface
FROM mentions
WHERE counted AND NOT hallucinated
ORDER BY topic, language, kind, surface
