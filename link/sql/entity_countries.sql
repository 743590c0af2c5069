-- A row is a country of a linked item, from the first property that gives one, or heirs of a divided state: country of origin (P495), cuisine (P2012, or
-- P361 of a cuisine), culture (P2596); of whoever made it (P50, P86, P170, P175) the citizenship (P27), origin or place of
-- birth (P19); its own citizenship or place of birth; where it was made (P1071), its country (P17), its location (P276). An item
-- that stands for two countries alike gives a row for each. Which heir of a divided state is meant is said by the item's other
-- statements (also by one that has ended, where no other does), else by the place of birth, else the state has a principal heir.
-- If none says it, the row has no country but these heirs as its `successors`. A citizenship that leads to no state of a table
-- is that of the place of birth: else a citizenship of today would count alone. What names no country is left out beside what does.
CREATE TABLE entity_countries AS
WITH stated AS (
    SELECT DISTINCT item, about, counts, unnest(countries) AS country FROM said WHERE heirs IS NULL
),
born AS (
    SELECT births.item, births.about, unnest(climbed.countries) AS country
    FROM births JOIN climbed USING (place) WHERE climbed.heirs IS NULL
),
meant AS (
    SELECT
        said.item, said.about, said.property, said.target,
        coalesce(
            list(DISTINCT stated.country) FILTER (stated.counts),
            list(DISTINCT stated.country) FILTER (stated.country IS NOT NULL),
            CASE WHEN count(DISTINCT born.country) = 1 THEN list(DISTINCT born.country) FILTER (born.country IS NOT NULL) END
        ) AS countries
    FROM said
    LEFT JOIN stated ON stated.item = said.item AND stated.country IN said.heirs
        AND (said.about = stated.about OR said.item IN (said.about, stated.about))  -- one maker says nothing of another
    LEFT JOIN born ON born.item = said.item AND said.about IN (born.about, said.item)
        AND (said.heirs IS NULL OR born.country IN said.heirs)
    WHERE said.heirs IS NOT NULL OR (said.countries IS NULL AND said.property LIKE '%P27')
    GROUP BY ALL
),
decided AS (
    SELECT said.item, said.property, said.place, said.target, said.heirs,
        coalesce(meant.countries, said.countries, CASE WHEN len(said.heirs) = 1 THEN said.heirs END) AS countries
    FROM said LEFT JOIN meant USING (item, about, property, target)
    WHERE said.counts
),
first AS (
    SELECT
        item, min_by(place, (countries IS NULL AND heirs IS NULL, place)) AS place,
        bool_and(countries IS NULL AND heirs IS NULL) AS open
    FROM decided GROUP BY item
)
SELECT DISTINCT
    'Q' || item AS qid,
    unnest(coalesce(countries, [NULL])) AS country,
    'Q' || target AS country_qid,
    min(property) AS property,
    CASE WHEN countries IS NULL THEN any_value(heirs) END AS successors
FROM decided JOIN first USING (item, place)
WHERE open OR countries IS NOT NULL OR heirs IS NOT NULL
GROUP BY item, target, countries
ORDER BY ALL
