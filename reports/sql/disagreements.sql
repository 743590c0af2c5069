-- Where own words and the English name disagree
-- disagreements: a row is a language in which the own words of linked mentions lead to one item, and their English name matches another
-- one of the topic; with the most frequent case. The links follow the own words.
--   linked: linked mentions
--   disagreeing: those of them whose English name matches another item
--   surface: the words of the most frequent case
--   mentions: mentions of this case
--   qid: the item that they are linked to
--   label: its label
--   english: their English name
--   english_qid: the item that the English name matches
-- printed: language, linked, disagreeing, disagreeing_share, surface, label, qid, english, english_qid
WITH shares AS (
    SELECT language, sum(r.linked)::BIGINT AS linked, sum(r.disagreeing)::BIGINT AS disagreeing,
        sum(r.disagreeing) / sum(r.linked) AS disagreeing_share
    FROM resolution AS r
    GROUP BY language
    HAVING sum(r.disagreeing) > 0
),
counted AS (
    SELECT query, sum(mentions)::BIGINT AS mentions FROM cell_surfaces WHERE status = 'linked' AND english_qid IS NOT NULL GROUP BY query
),
cases AS (
    SELECT language, surface, qid, english, english_qid, mentions
    FROM links
    INNER JOIN counted USING (query)
    QUALIFY row_number() OVER (PARTITION BY language ORDER BY mentions DESC, surface, query) = 1
)
SELECT language, linked, disagreeing, disagreeing_share, surface, mentions, qid, e.label, english, english_qid
FROM shares
INNER JOIN cases USING (language)
LEFT JOIN entities AS e USING (qid)
ORDER BY language;
