-- judgements: a row is what one judge said of a mention and its link, or (`ordinal` NULL) of what a response lacks.
CREATE VIEW judgements AS SELECT * FROM stored_judgements;

-- audited_mentions: a row is a present mention that somebody judged. What may be so of it (`mentions`, `specifics`,
-- `links`) is what an adjudicator said, else each different thing that the judges said. A judgement of which several are
-- left is NULL and the row `disputed`; one of a link that has changed since does not count.
--   status: 'linked', 'ambiguous', 'no candidate' or 'no path'; NULL while nobody looked it up
--   granularity: the extractor's label: 1 specific, 0 general
--   specific: the judge's label: the extractor's, unless the judge corrected it
--   mention: 'right' or 'wrong'; NULL where nobody said, or judges differ
--   relinked: has the link changed since it was judged? What was said of it does not count
--   link: 'right', 'wrong' or 'none' (no item is meant); NULL where nobody said, judges differ, or the link has
--     changed
--   mentions: what `mention` may be: what an adjudicator said, else each different word of the judges
--   specifics: what `specific` may be, likewise
--   links: what `link` may be, likewise
CREATE VIEW audited_mentions AS
WITH said AS (
    SELECT
        j.extraction_id, j.ordinal, j.mention, coalesce(j.adjudicator, false) AS decides,
        -- Whoever calls a mention right and leaves its label alone agrees with the label. An adjudicator does not: where an
        -- adjudicator wrote no label, those of the others stand.
        coalesce(j.specific, CASE WHEN j.mention = 'right' THEN m.granularity END) AS specific,
        CASE WHEN j.adjudicator THEN j.specific END AS decided_specific,
        j.qid IS DISTINCT FROM CASE WHEN m.status = 'linked' THEN m.qid END AS relinked,
        CASE WHEN NOT relinked THEN j.link END AS link
    FROM judgements AS j
    INNER JOIN linked_mentions AS m USING (extraction_id, ordinal)
),
words AS (
    SELECT
        extraction_id, ordinal, count(*) AS judges, bool_or(relinked) AS relinked,
        coalesce(
            list(DISTINCT mention) FILTER (decides AND mention IS NOT NULL),
            list(DISTINCT mention) FILTER (mention IS NOT NULL), []
        ) AS mentions,
        coalesce(
            list(DISTINCT decided_specific) FILTER (decided_specific IS NOT NULL),
            list(DISTINCT specific) FILTER (NOT decides AND specific IS NOT NULL),
            list(DISTINCT specific) FILTER (specific IS NOT NULL), []
        ) AS specifics,
        coalesce(
            list(DISTINCT link) FILTER (decides AND link IS NOT NULL),
            list(DISTINCT link) FILTER (link IS NOT NULL), []
        ) AS links
    FROM said
    GROUP BY extraction_id, ordinal
)
SELECT
    m.extraction_id, m.ordinal, m.response_id, m.model, m.language, m.topic, m.condition, m.country, p.wording,
    m.surface, m.granularity, m.status, CASE WHEN m.status = 'linked' THEN m.qid END AS qid,
    w.judges, greatest(len(w.mentions), len(w.specifics), len(w.links)) > 1 AS disputed,
    CASE WHEN len(w.mentions) = 1 THEN w.mentions[1] END AS mention,
    CASE WHEN len(w.specifics) = 1 THEN w.specifics[1] ELSE m.granularity END AS specific,
    w.relinked,
    CASE WHEN len(w.links) = 1 THEN w.links[1] END AS link,
    list_sort(w.mentions) AS mentions, list_sort(w.specifics) AS specifics, list_sort(w.links) AS links
FROM linked_mentions AS m
INNER JOIN words AS w USING (extraction_id, ordinal)
INNER JOIN prompts AS p ON m.prompt_id = p.prompt_id;

-- audit_readings: a row is a mention that somebody judged, and one of the ways to read its judges: with each of
-- `mentions`, `specifics` and `links` that may be so. The readings of a mention weigh 1 together; one of which nobody said whether it
-- is right has none.
--   status: 'linked', 'ambiguous', 'no candidate' or 'no path'; NULL while nobody looked it up
--   specific: the judge's label: the extractor's, unless the judge corrected it
--   mention: 'right' or 'wrong', in this reading
--   link: 'right', 'wrong' or 'none' (no item is meant), in this reading; NULL where nobody said of the present link
--   weight: 1 over the readings of the mention
CREATE VIEW audit_readings AS
WITH links AS (SELECT *, unnest(CASE WHEN len(links) = 0 THEN [NULL] ELSE links END) AS read_link FROM audited_mentions),
labels AS (
    SELECT *, unnest(CASE WHEN len(specifics) = 0 THEN [granularity] ELSE specifics END) AS read_specific FROM links
)
SELECT
    extraction_id, ordinal, language, topic, status, unnest(mentions) AS mention, read_specific AS specific,
    read_link AS link, 1 / (len(mentions) * greatest(len(specifics), 1) * greatest(len(links), 1)) AS weight
FROM labels;

-- audit_whole: a row is a response that was judged whole: how many things it names that no mention stands for. Judges who
-- differ leave a range, of which the middle counts, unless an adjudicator said how many.
--   fewest: the least number that a judge gave
--   most: the greatest number that a judge gave
--   missed: their middle
CREATE VIEW audit_whole AS
WITH said AS (
    SELECT
        extraction_id,
        coalesce(min(missed) FILTER (adjudicator), min(missed)) AS fewest,
        coalesce(max(missed) FILTER (adjudicator), max(missed)) AS most
    FROM judgements
    WHERE ordinal IS NULL AND missed IS NOT NULL
    GROUP BY extraction_id
)
SELECT e.extraction_id, e.language, e.topic, s.fewest, s.most, (s.fewest + s.most) / 2 AS missed
FROM said AS s
INNER JOIN extractions AS e USING (extraction_id);

-- audit_response_shares: a row is a response and a share of right cases, precision or recall: what the response adds to it.
-- A disputed case counts by halves (each of its readings alike); beside it stand the counts with every disputed case at its
-- best and at its worst. Judged cases of one response are correlated: the response is the unit of the intervals.
--   what: 'extraction precision', 'extraction recall', 'link precision' or 'link recall'
--   hits: right cases of the response, a disputed one as the share of its readings in which it is right
--   cases: cases of the response
--   disputed: cases that are not alike in all readings
--   hits_at_best: right cases, were every disputed one right
--   cases_at_best: cases, were every disputed one right
--   hits_at_worst: right cases, were every disputed one wrong
--   cases_at_worst: cases, were every disputed one wrong
CREATE VIEW audit_response_shares AS
WITH outcomes AS (
    SELECT
        r.extraction_id, r.ordinal, r.language, r.topic, r.weight, what,
        CASE what
            WHEN 'extraction precision' THEN r.mention = 'right'
            WHEN 'extraction recall' THEN CASE WHEN r.mention = 'right' AND w.extraction_id IS NOT NULL THEN true END
            WHEN 'link precision' THEN CASE WHEN r.mention = 'right' AND r.status = 'linked' THEN r.link = 'right' END
            WHEN 'link recall' THEN
                CASE
                    WHEN r.mention = 'right' AND r.status = 'linked' AND r.link = 'right' THEN true
                    WHEN r.mention = 'right' AND r.link = 'wrong' THEN false
                END
        END AS hit
    FROM audit_readings AS r
    LEFT JOIN audit_whole AS w USING (extraction_id)
    CROSS JOIN (VALUES ('extraction precision'), ('extraction recall'), ('link precision'), ('link recall')) AS s(what)
),
-- At its best a case is a hit, else left out, else a miss; at its worst the other way round.
cases AS (
    SELECT
        extraction_id, language, topic, what,
        coalesce(sum(weight ORDER BY weight) FILTER (hit), 0) AS hits,
        coalesce(sum(weight ORDER BY weight) FILTER (hit IS NOT NULL), 0) AS cases,
        (coalesce(bool_or(hit), false)::INT + coalesce(bool_or(NOT hit), false)::INT + bool_or(hit IS NULL)::INT) > 1
            AS disputed,
        CASE WHEN bool_or(hit) THEN true WHEN bool_or(hit IS NULL) THEN NULL ELSE false END AS best,
        CASE WHEN bool_or(NOT hit) THEN false WHEN bool_or(hit IS NULL) THEN NULL ELSE true END AS worst
    FROM outcomes
    GROUP BY extraction_id, ordinal, language, topic, what
),
sums AS (
    SELECT
        extraction_id, language, topic, what, hits, cases, disputed::INT AS disputed,
        coalesce(best, false)::INT AS hits_at_best, (best IS NOT NULL)::INT AS cases_at_best,
        coalesce(worst, false)::INT AS hits_at_worst, (worst IS NOT NULL)::INT AS cases_at_worst
    FROM cases
    UNION ALL
    SELECT
        extraction_id, language, topic, 'extraction recall', 0, missed, (fewest < most)::INT, 0, fewest, 0, most
    FROM audit_whole
)
SELECT
    extraction_id, language, topic, what,
    sum(hits ORDER BY hits) AS hits, sum(cases ORDER BY cases) AS cases, sum(disputed)::BIGINT AS disputed,
    sum(hits_at_best)::BIGINT AS hits_at_best, sum(cases_at_best)::BIGINT AS cases_at_best,
    sum(hits_at_worst)::BIGINT AS hits_at_worst, sum(cases_at_worst)::BIGINT AS cases_at_worst
FROM sums
GROUP BY extraction_id, language, topic, what;
