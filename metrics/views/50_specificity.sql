-- associations: a row is a country that an item is associated with, and the property that says so.
--   country: a country that the item is associated with, ISO 3166
--   property: the Wikidata property that says so: P495, P50/P27, ... (see entity_countries)
CREATE VIEW associations AS
SELECT qid, country, min(property) AS property
FROM entity_countries
WHERE country IS NOT NULL
GROUP BY ALL;

-- uncovered_countries: a row is a topic and a country of which the links' source of Wikidata holds no item: no share of it is
-- a number.
CREATE VIEW uncovered_countries AS
SELECT unnest(uncovered_topics) AS topic, country FROM known_countries;

-- asked_countries: a row is a cell and a country that its items are held against: the one that the prompt names, or, as
-- neutral prompts name none, each of its language's `neutral_countries`.
--   country: the country that the prompt names; of neutral prompts, each of the language's `neutral_countries` in
--     turn
--   covered: whether the links' source of Wikidata holds an item of it: else no share of it is a number
--   place: the number of the row
CREATE VIEW asked_countries AS
SELECT
    row_number() OVER (ORDER BY c.cell, coalesce(c.country, n.country))::INTEGER AS place, c.cell, c.model, c.language, c.topic, c.condition, coalesce(c.country, n.country) AS country,
    c.wording, u.topic IS NULL AS covered
FROM numbered_cells AS c
LEFT JOIN neutral_countries AS n ON c.country IS NULL AND c.condition = 'neutral' AND c.language = n.language
LEFT JOIN uncovered_countries AS u ON c.topic = u.topic AND coalesce(c.country, n.country) = u.country
WHERE coalesce(c.country, n.country) IS NOT NULL;

-- country_contributions: a row is a response of a cell that names a linked item, and one of the cell's `asked_countries`: the
-- items that are associated with the country (`numerator`), of all that it names. Of a country that is not covered there is none.
--   country: the country that the prompt names; of neutral prompts, each of the language's `neutral_countries` in
--     turn
CREATE VIEW country_contributions AS
SELECT n.cell, q.country, n.response, count(a.item) AS numerator, count(*) AS denominator
FROM named_items AS n
INNER JOIN asked_countries AS q USING (cell)
LEFT JOIN (SELECT substr(qid, 2)::BIGINT AS item, country FROM associations) AS a ON n.item = a.item AND q.country = a.country
WHERE q.covered
GROUP BY ALL;

-- specificity: a row is a cell and one of its `asked_countries`, of a neutral cell those of the experiment: the share of the
-- cell's linked items, each counted once per response that mentions it, that are associated with the country, as in `numbers`.
-- NULL when there is no linked item, and for `uncovered_countries`.
--   country: the country that the prompt names; of neutral prompts, each country of the experiment in turn
CREATE VIEW specificity AS
SELECT
    n.model, n.language, n.topic, n.condition, n.country, n.wording, n.estimate AS specificity, n.responses, n.incidences,
    coalesce(s.associated, 0)::BIGINT AS associated
FROM cell_numbers AS n
LEFT JOIN (
    SELECT cell, country, sum(numerator) AS associated FROM country_contributions GROUP BY ALL
) AS s USING (cell, country)
WHERE n.metric = 'specificity';

-- specificity_gain: a row is a cell that names a country: its specificity minus that of the same model's neutral
-- prompts on the same topic in the same language and wording, as in `numbers`. NULL when one of the two is missing.
--   neutral_specificity: specificity for this country under the neutral condition; of a country that is not one of the
--     experiment's, NULL where `gain` is
--   neutral_responses: responses behind `neutral_specificity`
--   neutral_incidences: incidences behind `neutral_specificity`
--   gain: specificity less neutral_specificity, -1 to 1; NULL where either is missing
CREATE VIEW specificity_gain AS
SELECT
    g.model, g.language, g.topic, g.condition, g.country, g.wording, g.estimate AS gain, s.estimate AS specificity,
    -- For countries beside those of the experiment, neutral prompts have no number of their own.
    coalesce(n.estimate, s.estimate - g.estimate) AS neutral_specificity,
    s.responses, s.incidences, e.responses AS neutral_responses, e.incidences AS neutral_incidences
FROM cell_numbers AS g
INNER JOIN cell_numbers AS s ON s.metric = 'specificity' AND g.cell = s.cell
LEFT JOIN cell_numbers AS e -- what the neutral cell rests on, whatever country
    ON e.metric = 'diversity' AND e.condition = 'neutral' AND g.model = e.model AND g.language = e.language
    AND g.topic = e.topic AND g.wording = e.wording
LEFT JOIN cell_numbers AS n ON n.metric = 'specificity' AND e.cell = n.cell AND g.country = n.country
WHERE g.metric = 'specificity_gain';

-- countryless_contributions: a row is a response of a cell that names a linked item: the items of which no country is known
-- (`numerator`), of all that it names. They count against every country's specificity.
CREATE VIEW countryless_contributions AS
SELECT n.cell, n.response, count(*) FILTER (a.item IS NULL) AS numerator, count(*) AS denominator
FROM named_items AS n
LEFT JOIN (SELECT DISTINCT substr(qid, 2)::BIGINT AS item FROM associations) AS a USING (item)
GROUP BY ALL;
