-- cells: a row is one cell of the experiment: what a model was asked about a topic, in a language, under a condition,
-- of a country (NULL when the condition is neutral). Every asked cell is here, also when nothing came of it.
CREATE VIEW cells AS
SELECT model, language, topic, condition, country, count(*) AS prompts, count(*) * any_value(run.n) AS asked
FROM run_models, prompts, run
GROUP BY ALL;

-- countries: a row is a country of the experiment (ISO 3166).
CREATE VIEW countries AS
SELECT country FROM run_countries
UNION
SELECT country FROM prompts WHERE country IS NOT NULL;

-- numbered_cells: a row is a cell under a number; the languages of a model, topic, condition and country stand
-- together.
CREATE VIEW numbered_cells AS
SELECT row_number() OVER (ORDER BY model, topic, condition, country NULLS FIRST, language)::INTEGER AS cell, *
FROM cells;

-- cell_prompts: a row is one of `wanted_extractions` with the number of its cell. Joining stored rows with it keeps
-- those that count now and finds their cell, in one step and with one number instead of five names.
CREATE VIEW cell_prompts AS
SELECT w.*, c.cell
FROM wanted_extractions AS w
INNER JOIN prompts AS p USING (prompt_id)
INNER JOIN numbered_cells AS c
    ON w.model = c.model AND p.language = c.language AND p.topic = c.topic AND p.condition = c.condition
    AND p.country IS NOT DISTINCT FROM c.country;
