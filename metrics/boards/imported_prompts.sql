-- The prompts of imported texts, each with the cell that it asks about; empty where the file of a text has none.
SELECT DISTINCT p.language, coalesce(p.text, '') AS text, concat_ws(', ', p.topic, p.condition, p.country) AS cell
FROM prompts AS p INNER JOIN wanted_responses AS w USING (prompt_id)
ORDER BY ALL
