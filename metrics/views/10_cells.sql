-- cells: a row is one cell of the experiment: what a model was asked about a topic, in a language, under a condition,
-- of a country (NULL when the condition is neutral), in one wording of the question. The names of a wording stand in one
-- cell. Every asked cell is here, also when nothing came of it. Of an imported model those that it has texts of.
CREATE VIEW cells AS
SELECT
    w.model, p.language, p.topic, p.condition, p.country, p.wording, count(*) AS prompts, sum(w.n)::BIGINT AS asked
FROM wanted_responses AS w
INNER JOIN prompts AS p USING (prompt_id)
GROUP BY ALL;

-- countries: a row is a country of the experiment (ISO 3166).
--   country: ISO 3166
CREATE VIEW countries AS
SELECT country FROM run_countries;

-- neutral_countries: a row is a country for which the neutral prompts of a language are counted: those of the
-- experiment, and those that other prompts of the language name (an implicit prompt may name the language's first
-- country, whatever the experiment is about): gains are measured from there.
CREATE VIEW neutral_countries AS
SELECT language, country FROM (SELECT DISTINCT language FROM prompts), countries
UNION
SELECT language, country FROM prompts WHERE country IS NOT NULL;

-- shared_names: a row is a group of prompts of a language in which one person stands in two wordings or more: what it says of
-- the name, it says in each of them. (`name` is NULL where no person is named.)
CREATE VIEW shared_names AS
SELECT DISTINCT language, condition, country
FROM (
    SELECT language, condition, country, name
    FROM prompts
    WHERE name IS NOT NULL
    GROUP BY ALL
    HAVING count(DISTINCT wording) > 1
);

-- numbered_cells: a row is a cell under a number. The languages of a model, topic, condition, country and wording stand
-- together in one `place`, in their order.
--   place: the number of the cell's model, topic, condition, country and wording: cells of one place differ in
--     language only
CREATE VIEW numbered_cells AS
SELECT
    row_number() OVER (ORDER BY model, topic, condition, country NULLS FIRST, wording, language)::INTEGER AS cell,
    dense_rank() OVER (ORDER BY model, topic, condition, country NULLS FIRST, wording)::INTEGER AS place,
    *
FROM cells;

-- asked_prompts: a row is one of `wanted_responses` with the numbers of its cell and, as its model is asked it, of its
-- prompt. Joining stored responses with it keeps those that count now and finds their cell, in one step and with one
-- number instead of six names; `prompt` and `sample` are a response's name in two numbers.
CREATE VIEW asked_prompts AS
SELECT w.*, c.cell, row_number() OVER (ORDER BY w.model, w.prompt_id)::INTEGER AS prompt
FROM wanted_responses AS w
INNER JOIN prompts AS p USING (prompt_id)
INNER JOIN numbered_cells AS c
    ON w.model = c.model AND p.language = c.language AND p.topic = c.topic AND p.condition = c.condition
    AND p.country IS NOT DISTINCT FROM c.country AND p.wording = c.wording;

-- cell_prompts: a row is one of `asked_prompts` with an extractor whose work on it counts, and who reads its answers; the
-- same for extractions and mentions.
CREATE VIEW cell_prompts AS
SELECT a.* REPLACE (least(a.n, coalesce(e.sample, a.n)) AS n), e.extractor_id, e.reader_id
FROM asked_prompts AS a, (SELECT DISTINCT extractor_id, reader_id, sample FROM run_extractors) AS e;
