-- left_out: how many responses were drawn and do not fit into $text_budget bytes; `needed`: and are a place's first.
SELECT count(*) AS responses, count(*) FILTER (needed) AS needed
FROM drawn_responses
WHERE bytes > $text_budget;
