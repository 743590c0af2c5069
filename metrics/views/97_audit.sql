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

-- audit_answers: a row is what judges said of a mention's thing (`question` is 'existence': does it exist, and has it an
-- item?) or of a response ('on_topic': is the text about its topic? 'region': of which is it?). What may be so (`answers`)
-- is what an adjudicator said, else each different thing that the judges said; where several are left, `answer` is NULL and the row `disputed`.
-- No correction of a metric rests on these.
--   ordinal: the place of the mention in its extraction, from 0; NULL: the whole response is judged
--   surface: the words of the mention; NULL for a response
--   question: 'existence' of a mention, 'on_topic' or 'region' of a response
--   answer: 'item', 'no item' or 'invented'; 'yes' or 'no'; NULL where judges differ
--   answers: what `answer` may be: what an adjudicator said, else each different word of the judges
CREATE VIEW audit_answers AS
WITH asked AS (
    SELECT extraction_id, ordinal, 'existence' AS question, existence AS said, coalesce(adjudicator, false) AS decides
    FROM judgements
    WHERE ordinal IS NOT NULL AND existence IS NOT NULL
    UNION ALL
    SELECT extraction_id, NULL, 'on_topic', on_topic, coalesce(adjudicator, false)
    FROM judgements
    WHERE ordinal IS NULL AND on_topic IS NOT NULL
    UNION ALL
    SELECT extraction_id, NULL, 'region', region, coalesce(adjudicator, false)
    FROM judgements
    WHERE ordinal IS NULL AND region IS NOT NULL
),
words AS (
    SELECT
        extraction_id, ordinal, question, count(*) AS judges,
        list_sort(coalesce(list(DISTINCT said) FILTER (decides), list(DISTINCT said))) AS answers
    FROM asked
    GROUP BY extraction_id, ordinal, question
),
present AS (
    SELECT extraction_id, ordinal, model, language, topic, surface FROM linked_mentions
    UNION ALL
    SELECT extraction_id, NULL, model, language, topic, NULL FROM extractions
)
SELECT
    p.extraction_id, p.ordinal, p.model, p.language, p.topic, p.surface, w.question, w.judges,
    CASE WHEN len(w.answers) = 1 THEN w.answers[1] END AS answer, len(w.answers) > 1 AS disputed, w.answers
FROM words AS w
INNER JOIN present AS p ON w.extraction_id = p.extraction_id AND w.ordinal IS NOT DISTINCT FROM p.ordinal;

-- audit_response_shares: a row is a response and a share of right cases: what the response adds to it. A disputed case
-- counts by halves (each of its readings alike); beside it stand the counts with every disputed case at its best and at its
-- worst. Judged cases of one response are correlated: the response is the unit of the intervals. F1 is counted over what was
-- found or should have been, each thing once (Jaccard), a link to another item than the one that is meant twice: it is
-- found and wrong, and the right one is missed. Recall and F1 of extraction are of responses that were judged whole.
--   what: 'extraction precision', 'extraction recall', 'link precision', 'link recall', 'extraction F1', 'link F1',
--     'fabrication', 'real without an item' or 'relevance'
--   hits: right cases of the response, a disputed one as the share of its readings in which it is right
--   cases: cases of the response
--   disputed: cases that are not alike in all readings
--   hits_at_best: right cases, were every disputed one right
--   cases_at_best: cases, were every disputed one right
--   hits_at_worst: right cases, were every disputed one wrong
--   cases_at_worst: cases, were every disputed one wrong
CREATE VIEW audit_response_shares AS
WITH readings AS (
    SELECT r.*, r.mention = 'right' AS is_right, r.status = 'linked' AS is_linked, w.extraction_id IS NOT NULL AS whole
    FROM audit_readings AS r
    LEFT JOIN audit_whole AS w USING (extraction_id)
),
-- Whether a thing exists is asked of right mentions.
exist AS (
    SELECT
        e.extraction_id, e.ordinal, e.language, e.topic, e.answer,
        1 / (len(e.answers) * len(e.mentions)) AS weight, unnest(e.mentions) AS mention
    FROM (
        SELECT
            a.* EXCLUDE (answer), unnest(a.answers) AS answer,
            CASE WHEN len(m.mentions) > 0 THEN m.mentions ELSE ['right'] END AS mentions
        FROM audit_answers AS a
        LEFT JOIN audited_mentions AS m USING (extraction_id, ordinal)
        WHERE a.question = 'existence'
    ) AS e
),
outcomes AS (
    SELECT
        what, extraction_id, ordinal, language, topic, weight,
        CASE what
            WHEN 'extraction precision' THEN if(is_right, 'hit', 'miss')
            WHEN 'extraction recall' THEN if(is_right AND whole, 'hit', 'left out')
            WHEN 'extraction F1' THEN if(whole, if(is_right, 'hit', 'miss'), 'left out')
            WHEN 'link precision' THEN
                if(is_right AND is_linked AND link IS NOT NULL, if(link = 'right', 'hit', 'miss'), 'left out')
            WHEN 'link recall' THEN
                CASE
                    WHEN is_right AND is_linked AND link = 'right' THEN 'hit'
                    WHEN is_right AND link = 'wrong' THEN 'miss'
                    ELSE 'left out'
                END
            ELSE
                CASE
                    WHEN NOT is_right OR link IS NULL THEN 'left out'
                    WHEN is_linked THEN CASE link WHEN 'right' THEN 'hit' WHEN 'none' THEN 'miss' ELSE 'two' END
                    ELSE if(link = 'wrong', 'miss', 'left out')
                END
        END AS outcome
    FROM readings
    CROSS JOIN (
        VALUES
            ('extraction precision'), ('extraction recall'), ('extraction F1'), ('link precision'), ('link recall'), ('link F1')
    ) AS s (what)
    UNION ALL
    SELECT
        what, extraction_id, ordinal, language, topic, weight,
        CASE WHEN mention <> 'right' THEN 'left out' WHEN answer = said THEN 'hit' ELSE 'miss' END
    FROM exist
    CROSS JOIN (VALUES ('fabrication', 'invented'), ('real without an item', 'no item')) AS s (what, said)
    UNION ALL
    SELECT
        'relevance', extraction_id, NULL, language, topic, 1 / len(answers),
        CASE unnest(answers) WHEN 'yes' THEN 'hit' ELSE 'miss' END
    FROM audit_answers
    WHERE question = 'on_topic'
),
-- At its best a case is a hit, else left out, else a miss; at its worst the other way round.
ranked AS (
    SELECT o.*, s.rank, s.hits, s.cases
    FROM outcomes AS o
    INNER JOIN (VALUES ('hit', 3, 1, 1), ('left out', 2, 0, 0), ('miss', 1, 0, 1), ('two', 0, 0, 2)) AS s (
        outcome, rank, hits, cases
    ) USING (outcome)
),
counted AS (
    SELECT
        what, extraction_id, ordinal, language, topic,
        sum(weight * hits ORDER BY weight) AS hits, sum(weight * cases ORDER BY weight) AS cases,
        (count(DISTINCT rank) > 1)::INT AS disputed,
        arg_max(hits, rank) AS hits_at_best, arg_max(cases, rank) AS cases_at_best,
        arg_min(hits, rank) AS hits_at_worst, arg_min(cases, rank) AS cases_at_worst
    FROM ranked
    GROUP BY ALL
    UNION ALL
    SELECT what, extraction_id, NULL, language, topic, 0, missed, (fewest < most)::INT, 0, fewest, 0, most
    FROM audit_whole
    CROSS JOIN (VALUES ('extraction recall'), ('extraction F1')) AS s (what)
)
SELECT
    extraction_id, language, topic, what,
    sum(hits ORDER BY hits)::DOUBLE AS hits, sum(cases ORDER BY cases)::DOUBLE AS cases, sum(disputed)::BIGINT AS disputed,
    sum(hits_at_best)::BIGINT AS hits_at_best, sum(cases_at_best)::BIGINT AS cases_at_best,
    sum(hits_at_worst)::BIGINT AS hits_at_worst, sum(cases_at_worst)::BIGINT AS cases_at_worst
FROM counted
GROUP BY extraction_id, language, topic, what;

-- audited_texts: a row is a gold text that the extractor of the run's topic read in `extract audit`, and how many of the names
-- that it gave are right. An audit of another extractor, or under another instruction, does not count.
--   names: dictionary forms that it gave of mentions whose right ones are known
--   right_names: of these, the right ones
--   english: English names, likewise
--   right_english: of these, the right ones
CREATE VIEW audited_texts AS
SELECT * FROM stored_audited_texts
WHERE (topic, extractor_id) IN (SELECT DISTINCT topic, extractor_id FROM extractions);
