-- counts: a row is how often an item is mentioned by a model in a language and topic, and, as far as asked for, under a
-- condition and about a country.
CREATE OR REPLACE TEMP TABLE counts AS
SELECT
    item, model, language, topic,
    CASE WHEN $by_condition THEN condition END AS condition,
    CASE WHEN $by_country THEN country END AS country,
    sum(mentions)::BIGINT AS mentions
FROM item_cells
GROUP BY ALL;
