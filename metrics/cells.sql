-- The cells under numbers, and what responses add to their metrics: temporary, so that no query carries names of columns.
-- `cells.py` fills `linked_items` with one model at a time.

-- measured_cells: a row is a cell under its number, with its diversity, the responses that this rests on, and how many of
-- its texts are distinct.
CREATE TEMP TABLE measured_cells AS
SELECT
    cell, model, language, topic, condition, country, wording, responses, diversity,
    count(*) OVER (PARTITION BY model, language, topic, condition, country) AS wordings,
    coalesce(texts, 0) AS texts, coalesce(distinct_texts, 0) AS distinct_texts
FROM cell_diversity
LEFT JOIN cell_texts USING (cell);

-- measured_values: a row is a metric of a cell, as the views define it: the estimate, or NULL.
CREATE TEMP TABLE measured_values AS
SELECT
    metric, model, language, coalesce(other_language, '-') AS other_language, topic, condition,
    coalesce(country, 'none') AS country, wording, estimate, responses, incidences
FROM cell_values;

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

-- linked_items: a row is an item that a response of the present model mentions, the mean label of its mentions there, and
-- whether their English names alone lead to it.
CREATE TEMP TABLE linked_items (cell INTEGER, response BIGINT, item BIGINT, specific DECIMAL(18, 15), only_english BOOLEAN);

-- every_linked_item: the rows of linked_items of all models. A response is known by the numbers of its prompt and sample.
CREATE TEMP VIEW every_linked_item AS
SELECT
    m.model, p.cell, p.prompt * 4294967296 + m.sample AS response, substr(m.qid, 2)::BIGINT AS item,
    mean_label(count(*) FILTER (m.granularity = 1), count(*)) AS specific, bool_and(m.only_english) AS only_english
FROM linked_mentions AS m
INNER JOIN numbered_prompts AS p USING (model, prompt_id)
WHERE m.status = 'linked'
GROUP BY m.model, p.cell, p.prompt, m.sample, m.qid;

-- granularity_sums: a row: so many responses of a cell mention so many linked items, whose labels have this sum.
CREATE TEMP VIEW granularity_sums AS
SELECT cell, numerator, denominator, count(*) AS responses
FROM (
    SELECT cell, response, sum(specific)::DOUBLE AS numerator, count(*) AS denominator FROM linked_items GROUP BY ALL
)
GROUP BY ALL;

-- english_sums: a row: so many responses of a cell mention so many linked items, to so many of which English alone leads.
CREATE TEMP VIEW english_sums AS
SELECT cell, numerator, denominator, count(*) AS responses
FROM (
    SELECT cell, response, count(*) FILTER (only_english) AS numerator, count(*) AS denominator FROM linked_items GROUP BY ALL
)
GROUP BY ALL;

-- without_country_sums: a row: so many responses of a cell mention so many linked items, of so many no country is known.
CREATE TEMP VIEW without_country_sums AS
SELECT cell, numerator, denominator, count(*) AS responses
FROM (
    SELECT l.cell, l.response, count(*) FILTER (a.item IS NULL) AS numerator, count(*) AS denominator
    FROM linked_items AS l
    LEFT JOIN (SELECT DISTINCT substr(qid, 2)::BIGINT AS item FROM associations) AS a USING (item)
    GROUP BY ALL
)
GROUP BY ALL;

-- specificity_sums: a row: so many responses of a cell that names a country mention so many linked items, so many of them
-- associated with the country.
CREATE TEMP VIEW specificity_sums AS
SELECT cell, numerator, denominator, count(*) AS responses
FROM (
    SELECT l.cell, l.response, count(a.item) AS numerator, count(*) AS denominator
    FROM linked_items AS l
    INNER JOIN measured_cells AS c USING (cell)
    LEFT JOIN associated_items AS a ON l.item = a.item AND c.country = a.country
    WHERE c.country IS NOT NULL
    GROUP BY ALL
)
GROUP BY ALL;

-- neutral_specificity_sums: a row: so many responses of a neutral cell mention so many linked items, and of these so many
-- per country of the experiment (`associated`: the countries with at least one, in order).
CREATE TEMP VIEW neutral_specificity_sums AS
WITH per_country AS (
    SELECT l.cell, l.response, a.country, count(*) AS items
    FROM linked_items AS l
    INNER JOIN measured_cells AS c USING (cell)
    INNER JOIN associated_items AS a USING (item)
    WHERE c.country IS NULL
    GROUP BY ALL
),
patterns AS (
    SELECT cell, response, list({'country': country, 'items': items} ORDER BY country) AS associated
    FROM per_country
    GROUP BY ALL
),
totals AS (
    SELECT l.cell, l.response, count(*) AS denominator
    FROM linked_items AS l
    INNER JOIN measured_cells AS c USING (cell)
    WHERE c.country IS NULL
    GROUP BY ALL
)
SELECT cell, denominator, coalesce(associated, []) AS associated, count(*) AS responses
FROM totals
LEFT JOIN patterns USING (cell, response)
GROUP BY ALL;

-- topic_items: a row is an item that a response of the present model mentions, and the topic of its cell.
CREATE TEMP VIEW topic_items AS
SELECT c.topic, l.cell, l.response, l.item FROM linked_items AS l INNER JOIN measured_cells AS c USING (cell);
