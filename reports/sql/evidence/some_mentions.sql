-- counted_mentions: a row is a mention of a counted kind; here in one language and topic, read once for all that follows.
CREATE OR REPLACE TEMP TABLE counted_mentions AS
SELECT response_id, prompt_id, model, language, topic, condition, country, kind, surface, hallucinated, start, "end"
FROM mentions
WHERE counted AND language = $language AND topic = $topic;
