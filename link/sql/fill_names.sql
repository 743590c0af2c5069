-- A row is a mention as it is looked up: its surface, and the dictionary form and English name that the extractor gives it.
SELECT DISTINCT language, surface, name, english
FROM mentions
WHERE counted AND NOT hallucinated
ORDER BY ALL
