-- A row is a distinct surface that the current mentions hold, of the kinds that count.
SELECT DISTINCT language, topic, kind, surface
FROM mentions
WHERE counted AND NOT hallucinated
ORDER BY topic, language, kind, surface
