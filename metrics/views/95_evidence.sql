-- entity_counts: a row is an item that mentions of a cell are linked to, with its names and countries, and how many mentions
-- in how many responses; the metrics count it once in each of these.
--   mentions: mentions linked to the item
--   responses: responses with a mention that is linked to the item
--   labels: the item's labels by language code
--   surfaces: the different words that were linked to the item
--   countries: the countries of the item, each with the property that says so
CREATE VIEW entity_counts AS
WITH countries_of AS (
    SELECT qid, list({'country': country, 'property': property} ORDER BY country) AS countries
    FROM associations
    GROUP BY qid
),
surfaces_of AS (
    SELECT cell, qid, list(DISTINCT surface ORDER BY surface) AS surfaces
    FROM cell_surfaces
    WHERE status = 'linked'
    GROUP BY ALL
)
SELECT
    c.model, c.language, c.topic, c.condition, c.country, c.wording, i.qid,
    e.label, e.labels, e.description, o.countries, i.mentions, i.seen AS responses, s.surfaces
FROM cell_incidence AS i
INNER JOIN numbered_cells AS c USING (cell)
INNER JOIN surfaces_of AS s ON i.cell = s.cell AND i.qid = s.qid
LEFT JOIN entities AS e ON i.qid = e.qid
LEFT JOIN countries_of AS o ON i.qid = o.qid;

-- mention_trail: a row is a mention with the way back from it: where it stands in its response, and what was asked.
--   text: the text of the response
--   status: 'linked', 'ambiguous', 'no candidate' or 'no path'; NULL while nobody looked it up
--   granularity: the mention's label: 1 specific, 0 general
--   start: where the surface begins in the response's text, in characters
--   end: where it ends, in characters
--   detected_language: the language that the response is in: a code of ours, another ISO 639-1 code, NULL when
--     undecided
--   finish_reason: the server's own word for how the text ended
CREATE VIEW mention_trail AS
SELECT
    m.model, m.language, m.topic, m.condition, m.country, p.wording, m.qid, m.status, m.surface, m.kind,
    m.granularity, m.start, m."end", m.sample, m.ordinal, m.matched_by, m.match, m.matched, m.only_english, m.response_id, m.prompt_id,
    r.text, r.finish_reason, r.detected_language, p.text AS prompt, p.name
FROM linked_mentions AS m
INNER JOIN responses AS r USING (response_id)
INNER JOIN prompts AS p ON m.prompt_id = p.prompt_id;
