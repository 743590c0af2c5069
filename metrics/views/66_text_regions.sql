-- What regions texts are of, by the linked items that they name. Empty where `known_countries` is, as the views of origins
-- are.

-- item_regions: a row is a linked item and the regions of its countries, or else of those on whose land its former state
-- lay. Countries without a region add none: with regions of a user's own, these are all that the regions do not name.
--   placed: does Wikidata name a country, or another place, that the item is from?
--   regions: the regions of its countries, each once; countries without a region add none
CREATE VIEW item_regions AS
WITH placed AS (
    SELECT qid, unnest(CASE WHEN len(countries) > 0 THEN countries ELSE candidates END) AS country FROM item_origins
)
SELECT
    o.qid,
    o.origin_kind <> 'none' AS placed,
    coalesce(list(DISTINCT k.region ORDER BY k.region) FILTER (k.region IS NOT NULL), []) AS regions
FROM item_origins AS o
LEFT JOIN placed AS p USING (qid)
LEFT JOIN known_countries AS k USING (country)
GROUP BY ALL;

-- text_regions: a row is a response and what became of it. A text is `labelled` where it was written, no refusal, read by
-- the extractor and looked up whole: its `label` is then the region of the items that it names, 'mixed' where there are
-- several such regions, and 'neutral' where there is none, for the reason in `neutral_because`. An item speaks for a region
-- where it has one alone.
--   outcome: 'labelled', 'refused', 'failed', 'empty', 'extraction failed', 'not asked' (beyond the sample that an extractor
--     reads), or 'awaiting' the extractor or the linker
--   label: of a labelled text: the region of the items that it names, 'mixed' (of several) or 'neutral' (of none)
--   neutral_because: of a neutral text: 'nothing named', 'nothing linked', 'several regions' (of each item),
--     'elsewhere' (countries without a region), 'no country'
--   regions: the regions that items of the text speak for
--   mentions: mentions that count, of the text
--   off_language: is the text in another language or script than the prompt's?
CREATE VIEW text_regions AS
WITH meanings AS (
    SELECT
        l.query, l.status = 'linked' AS linked, CASE WHEN linked AND len(i.regions) = 1 THEN i.regions[1] END AS region,
        linked AND len(i.regions) > 1 AS between_regions, linked AND len(i.regions) = 0 AND i.placed AS elsewhere
    FROM links AS l
    LEFT JOIN item_regions AS i USING (qid)
),
named AS (
    SELECT
        m.prompt, m.sample, count(*) AS mentions, count(*) FILTER (l.linked) AS linked, bool_or(l.query IS NULL) AS awaiting,
        list(DISTINCT l.region ORDER BY l.region) FILTER (l.region IS NOT NULL) AS regions,
        coalesce(bool_or(l.between_regions), false) AS between_regions, coalesce(bool_or(l.elsewhere), false) AS elsewhere
    FROM numbered_mentions AS m
    LEFT JOIN meanings AS l USING (query)
    WHERE m.counts
    GROUP BY ALL
),
read AS (
    SELECT
        r.response_id, r.model, r.language, r.topic, r.condition, r.country, p.wording, r.prompt_id, r.sample,
        CASE
            WHEN r.sample >= (SELECT min(sample) FROM run_extractors) THEN 'not asked'
            WHEN is_refusal(r.ending, r.refused) THEN 'refused'
            WHEN r.status <> 'ok' THEN 'failed'
            WHEN r.script_share IS NULL AND regexp_full_match(r.text, '[\s\p{Z}]*') THEN 'empty'
            WHEN e.status = 'failed' THEN 'extraction failed'
            WHEN e.status IS NULL OR coalesce(n.awaiting, false) THEN 'awaiting'
            ELSE 'labelled'
        END AS outcome,
        r.status = 'ok' AND is_off_language(r.detected_language, r.language, r.script_share) AS off_language,
        coalesce(n.mentions, 0) AS mentions,
        coalesce(n.linked, 0) AS linked,
        coalesce(n.regions, []) AS regions,
        n.between_regions, n.elsewhere
    FROM checked_responses AS r
    INNER JOIN prompts AS p USING (prompt_id)
    INNER JOIN asked_prompts AS a ON r.model = a.model AND r.prompt_id = a.prompt_id
    LEFT JOIN extractions AS e ON r.response_id = e.response_id AND r.prompt_id = e.prompt_id
    LEFT JOIN named AS n ON a.prompt = n.prompt AND r.sample = n.sample
    ANTI JOIN copies AS c ON r.request_id = c.request_id AND r.sample = c.sample
    WHERE EXISTS (FROM known_countries)
)
SELECT
    response_id, model, language, topic, condition, country, wording, prompt_id, sample, outcome,
    CASE WHEN outcome = 'labelled' THEN
        CASE len(regions) WHEN 0 THEN 'neutral' WHEN 1 THEN regions[1] ELSE 'mixed' END
    END AS label,
    CASE WHEN label = 'neutral' THEN
        CASE
            WHEN mentions = 0 THEN 'nothing named'
            WHEN linked = 0 THEN 'nothing linked'
            WHEN between_regions THEN 'several regions'
            WHEN elsewhere THEN 'elsewhere'
            ELSE 'no country'
        END
    END AS neutral_because,
    regions, mentions, linked, off_language
FROM read;
