-- What the page says of the run itself: of its prompts, their reviews, and how intervals were computed.

-- asked: a row says in how many wordings the run asks, how many persons a wording of an implicit prompt names (0 without such
-- prompts or where their names are not known), and whether a person stands in several wordings.
SELECT
    (SELECT count(DISTINCT wording) FROM prompts) AS wordings,
    (
        SELECT coalesce(max(names), 0)
        FROM (
            SELECT count(DISTINCT name) AS names
            FROM prompts
            GROUP BY language, topic, condition, country, wording
        )
    ) AS names,
    (SELECT count(*) > 0 FROM shared_names) AS shared;

-- entities: how many distinct items all linked mentions came to.
SELECT count(DISTINCT qid) AS entities FROM linked_mentions WHERE status = 'linked';

-- by_english: one row: how many mentions are linked, and how many of these by the English name that the extractor gave alone.
SELECT count(*) AS linked, count(*) FILTER (l.matched_by = 'english') AS by_english
FROM numbered_mentions AS m
INNER JOIN links AS l USING (query)
WHERE m.counts AND l.status = 'linked';

-- snapshot_items: the rows of this view, in a fixed order.
FROM snapshot_items
ORDER BY ALL;

-- implied_countries: a row is a country that is none of the experiment's, and a language whose implicit prompts name persons
-- of it.
SELECT DISTINCT country, language
FROM prompts
WHERE condition LIKE 'implicit%' AND country NOT IN (FROM countries)
ORDER BY country, language;

-- methods: a row is a way in which the intervals of a metric were computed.
-- The mean over a single wording is the number of its cell, and counts once.
SELECT metric, method_of_interval AS method, count(*) AS intervals
FROM numbers
WHERE measure = 'entities' AND method_of_interval IS NOT NULL
    AND (cells + missing > 1 OR level NOT LIKE '%topic, condition, country')
GROUP BY ALL
ORDER BY ALL;

-- review_templates: a row is a template that prompts of a language and topic were filled from; NULL of prompts that a
-- file of the study has.
SELECT DISTINCT language, topic, template_id FROM prompts ORDER BY language, topic, template_id;

-- neutral_prompts: a row is a wording in a language, with one of its neutral prompts that was generated from.
SELECT language, wording, min(text) AS text FROM prompts
WHERE condition = 'neutral' AND template_id IS NOT NULL
GROUP BY ALL
ORDER BY ALL;

-- reviews: a row is what a speaker of its language said of a template, asked or not.
FROM prompt_reviews ORDER BY ALL;
