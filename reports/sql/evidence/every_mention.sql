-- counted_mentions: a row is a mention of a counted kind; here of the whole run.
CREATE TEMP VIEW counted_mentions AS
SELECT response_id, prompt_id, model, language, topic, condition, country, kind, surface, hallucinated, start, "end"
FROM mentions
WHERE counted;
