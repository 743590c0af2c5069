-- associations: a row is a country that an item is associated with, and the property that says so.
--   country: a country that the item is associated with, ISO 3166
--   property: the Wikidata property that says so: P495, P50/P27, ... (see entity_countries)
CREATE VIEW associations AS
SELECT qid, country, min(property) AS property
FROM entity_countries
WHERE country IS NOT NULL
GROUP BY ALL;

-- asked_countries: a row is a cell and a country that its items are held against: the one that the prompt names, or, as
-- neutral prompts name none, each of its language's `neutral_countries`.
--   country: the country that the prompt names; of neutral prompts, each of the language's `neutral_countries` in
--     turn
CREATE VIEW asked_countries AS
SELECT c.cell, c.model, c.language, c.topic, c.condition, coalesce(c.country, n.country) AS country,
    c.wording
FROM numbered_cells AS c
LEFT JOIN neutral_countries AS n ON c.country IS NULL AND c.condition = 'neutral' AND c.language = n.language
WHERE coalesce(c.country, n.country) IS NOT NULL;

-- uncovered_countries: a row is a topic and a country of which the links' source of Wikidata holds no item: no share of it is
-- a number.
CREATE VIEW uncovered_countries AS
SELECT unnest(uncovered_topics) AS topic, country FROM known_countries;

-- country_shares: a row is a cell and one of its `asked_countries`: the share of the cell's linked items, each counted once
-- per response that mentions it, that are associated with the country. NULL when there is no linked item, and for
-- `uncovered_countries`.
--   country: the country that the prompt names; of neutral prompts, each of the language's `neutral_countries` in
--     turn
CREATE VIEW country_shares AS
WITH native AS (
    SELECT q.cell, q.country, sum(i.seen)::BIGINT AS associated
    FROM cell_incidence AS i
    INNER JOIN associations AS a USING (qid)
    INNER JOIN asked_countries AS q ON i.cell = q.cell AND a.country = q.country
    GROUP BY ALL
)
SELECT
    q.model, q.language, q.topic, q.condition, q.country, q.wording,
    CASE WHEN u.topic IS NULL THEN coalesce(s.associated, 0) / n.incidences END AS specificity,
    coalesce(e.extracted, 0) AS responses, coalesce(n.incidences, 0) AS incidences, coalesce(s.associated, 0) AS associated
FROM asked_countries AS q
LEFT JOIN linked_incidences AS n USING (cell)
LEFT JOIN native AS s USING (cell, country)
LEFT JOIN cell_extractions AS e USING (cell)
LEFT JOIN uncovered_countries AS u ON q.topic = u.topic AND q.country = u.country;

-- specificity: a row of `country_shares`, of a neutral cell those for the countries of the experiment.
--   country: the country that the prompt names; of neutral prompts, each country of the experiment in turn
CREATE VIEW specificity AS
FROM country_shares
WHERE condition <> 'neutral' OR country IN (FROM countries);

-- specificity_gain: a row is a cell that names a country: its specificity minus that of the same model's neutral
-- prompts on the same topic in the same language and wording. NULL when one of the two is missing.
--   neutral_specificity: specificity for this country under the neutral condition
--   neutral_responses: responses behind `neutral_specificity`
--   neutral_incidences: incidences behind `neutral_specificity`
--   gain: specificity less neutral_specificity, -1 to 1; NULL where either is missing
CREATE VIEW specificity_gain AS
WITH shares AS MATERIALIZED (SELECT * FROM country_shares)
SELECT
    s.model, s.language, s.topic, s.condition, s.country, s.wording,
    s.specificity - n.specificity AS gain,
    s.specificity, n.specificity AS neutral_specificity,
    s.responses, s.incidences, n.responses AS neutral_responses, n.incidences AS neutral_incidences
FROM shares AS s
LEFT JOIN (SELECT * FROM shares WHERE condition = 'neutral') AS n USING (model, language, topic, country, wording)
WHERE s.condition <> 'neutral';

-- countryless: a row is a cell: the share of its linked items, each counted once per response that mentions it, of which no
-- country is known. They count against every country's specificity. NULL when there is no linked item.
--   share_without_country: share of linked items without a country of today, 0 to 1
--   without_country: those of `incidences` whose item has none
CREATE VIEW countryless AS
SELECT
    c.model, c.language, c.topic, c.condition, c.country, c.wording,
    coalesce(w.without_country, 0) / n.incidences AS share_without_country,
    coalesce(e.extracted, 0) AS responses, coalesce(n.incidences, 0) AS incidences,
    coalesce(w.without_country, 0) AS without_country
FROM numbered_cells AS c
LEFT JOIN linked_incidences AS n USING (cell)
LEFT JOIN (
    SELECT cell, sum(seen)::BIGINT AS without_country
    FROM cell_incidence ANTI JOIN associations USING (qid)
    GROUP BY cell
) AS w USING (cell)
LEFT JOIN cell_extractions AS e USING (cell);
