-- measured_cells: a row is a cell under its number, with its diversity, the responses that this rests on, and how many of
-- its texts are distinct.
CREATE TEMP TABLE measured_cells AS
SELECT
    cell, model, language, topic, condition, country, wording, responses, diversity,
    count(*) OVER (PARTITION BY model, language, topic, condition, country) AS wordings,
    coalesce(texts, 0) AS texts, coalesce(distinct_texts, 0) AS distinct_texts
FROM cell_diversity
LEFT JOIN cell_texts USING (cell);

-- numbered_prompts: a row is a prompt as one model answers it, under a number, with its cell.
CREATE TEMP TABLE numbered_prompts AS
SELECT c.model, p.prompt_id, c.cell, row_number() OVER (ORDER BY p.prompt_id) AS prompt
FROM prompts AS p
INNER JOIN measured_cells AS c
    ON p.language = c.language AND p.topic = c.topic AND p.condition = c.condition
    AND p.country IS NOT DISTINCT FROM c.country AND p.wording = c.wording;

-- associated_items: a row is a counted country that an item is associated with. The number of an item is its QID's.
CREATE TEMP TABLE associated_items AS
SELECT substr(qid, 2)::BIGINT AS item, country
FROM associations
WHERE country IN (SELECT country FROM neutral_countries);

-- linked_items: a row is an item that a response of the present model mentions, and the mean label of its mentions there.
CREATE TEMP TABLE linked_items (cell INTEGER, response BIGINT, item BIGINT, specific DECIMAL(18, 15));

-- measured_values: a row of `cell_values`, which is computed once.
CREATE TEMP TABLE measured_values AS FROM cell_values;
