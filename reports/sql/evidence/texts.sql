-- texts: a row is a response that is shown, cut where it is very long, with the prompt that asked for it.
SELECT
    s.number, r.model, r.language, r.topic, r.condition, r.country, r.sample,
    left(r.text, $longest) AS text,
    length(r.text) > $longest AS cut,
    r.finish_reason, r.detected_language,
    p.text AS prompt
FROM shown_responses AS s
INNER JOIN prompts AS p ON s.prompt_id = p.prompt_id
INNER JOIN responses AS r  -- language and topic say in which files it is
    ON r.language = p.language AND r.topic = p.topic AND s.response_id = r.response_id AND s.prompt_id = r.prompt_id
ORDER BY s.number;
