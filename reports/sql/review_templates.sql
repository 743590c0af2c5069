-- A row is a template that prompts of a language were filled from.
SELECT DISTINCT language, template_id FROM prompts ORDER BY language, template_id;
