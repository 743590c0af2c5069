-- associations: a row is a country that an item is associated with, and the strongest property that says so: country
-- of origin (P495), the creator's citizenship (P50, P175, then P27), citizenship (P27), and country (P17) as the last
-- resort.
CREATE VIEW associations AS
SELECT
    qid, country,
    arg_min(
        property,
        coalesce(list_position(['P495', 'P50/P27', 'P175/P27', 'P50/P495', 'P175/P495', 'P27', 'P17'], property), 9)
    ) AS property
FROM entity_countries
WHERE country IS NOT NULL
GROUP BY ALL;

-- country_counts: a row is a cell, a country, and a property that associates items of the cell with the country (NULL:
-- those that are not associated), with the mentions of such items. `country` is the one that the prompt names; neutral
-- prompts name none, and a neutral cell has rows for each of its language's `neutral_countries`.
CREATE VIEW country_counts AS
WITH asked AS (
    SELECT c.cell, c.model, c.language, c.topic, c.condition, coalesce(c.country, n.country) AS country
    FROM numbered_cells AS c
    LEFT JOIN neutral_countries AS n ON c.country IS NULL AND c.language = n.language
),
counts AS (
    SELECT
        i.cell, q.country, a.property,
        sum(i.responses)::BIGINT AS responses, sum(i.linked)::BIGINT AS linked, sum(i.ambiguous)::BIGINT AS ambiguous
    FROM numbered_items AS i
    INNER JOIN asked AS q USING (cell)
    LEFT JOIN associations AS a ON i.qid = a.qid AND q.country = a.country
    GROUP BY ALL
)
SELECT q.model, q.language, q.topic, q.condition, c.* EXCLUDE (cell)
FROM counts AS c
INNER JOIN asked AS q USING (cell, country);

-- specificity_by_property: a row is one of `country_counts`, of a neutral cell those for the countries of the experiment.
CREATE VIEW specificity_by_property AS
FROM country_counts
WHERE condition <> 'neutral' OR country IN (FROM countries);

-- country_shares: a row is a cell and a country of `country_counts`: the share of the cell's linked mentions whose item
-- is associated with the country. NULL when no mention is linked.
CREATE VIEW country_shares AS
SELECT
    model, language, topic, condition, country,
    coalesce(sum(linked) FILTER (property IS NOT NULL), 0) / nullif(sum(linked), 0) AS specificity,
    coalesce(sum(linked + ambiguous) FILTER (property IS NOT NULL), 0) / nullif(sum(linked + ambiguous), 0)
        AS specificity_with_ambiguous,
    sum(responses)::BIGINT AS responses,
    sum(linked)::BIGINT AS linked,
    coalesce(sum(linked) FILTER (property IS NOT NULL), 0)::BIGINT AS associated,
    sum(ambiguous)::BIGINT AS ambiguous,
    coalesce(sum(ambiguous) FILTER (property IS NOT NULL), 0)::BIGINT AS associated_ambiguous
FROM country_counts
GROUP BY ALL;

-- specificity: a row is a cell and a country: the share of the cell's linked mentions whose item is associated with
-- the country. A neutral cell has a row for every country of the experiment. NULL when no mention is linked.
CREATE VIEW specificity AS
FROM country_shares
WHERE condition <> 'neutral' OR country IN (FROM countries);

-- specificity_gain: a row is a cell that names a country: its specificity minus that of the same model's neutral
-- prompts on the same topic in the same language. NULL when one of the two is missing.
CREATE VIEW specificity_gain AS
WITH shares AS MATERIALIZED (SELECT * FROM country_shares)
SELECT
    s.model, s.language, s.topic, s.condition, s.country,
    s.specificity - n.specificity AS gain,
    s.specificity_with_ambiguous - n.specificity_with_ambiguous AS gain_with_ambiguous,
    s.specificity, n.specificity AS neutral_specificity,
    s.responses, s.linked, n.responses AS neutral_responses, n.linked AS neutral_linked
FROM shares AS s
LEFT JOIN (SELECT * FROM shares WHERE condition = 'neutral') AS n USING (model, language, topic, country)
WHERE s.condition <> 'neutral';
