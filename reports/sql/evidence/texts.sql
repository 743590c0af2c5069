-- texts: a row is a response that is shown, with the prompt that asked for it.
SELECT number, model, language, topic, condition, country, sample, text, cut, detected_language, prompt
FROM shown_responses
ORDER BY number;
