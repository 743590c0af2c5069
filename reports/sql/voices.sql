-- What is named of a country in one of its languages alone, in English alone, and in both
-- voices: a row is a country that prompts name, for a model, and a language beside English (`other_language`): of the
-- linked items that the two name on the same topics and wordings, how many are named in the language alone, in both,
-- in English alone.
--   only_here: items named in the language alone
--   in_both: items named in both languages
--   only_there: items named in the other language alone
-- printed: model, country, language, other_language, only_here, in_both, only_there
WITH named AS MATERIALIZED (
    SELECT DISTINCT c.model, c.language, c.country, c.topic, c.wording, i.qid
    FROM cell_incidence AS i
    INNER JOIN numbered_cells AS c USING (cell)
    WHERE c.condition = 'explicit'
),
asked AS (
    SELECT DISTINCT model, language, country, topic, wording FROM numbered_cells WHERE condition = 'explicit'
),
pairs AS (
    SELECT a.model, a.country, a.topic, a.wording, a.language, b.language AS other_language
    FROM asked AS a
    INNER JOIN asked AS b USING (model, country, topic, wording)
    WHERE b.language = 'en' AND a.language <> 'en'
),
told AS (
    SELECT p.model, p.country, p.language, p.other_language, n.topic, n.wording, n.qid,
        bool_or(n.language = p.language) AS here, bool_or(n.language = p.other_language) AS there
    FROM pairs AS p
    INNER JOIN named AS n
        ON p.model = n.model AND p.country = n.country AND p.topic = n.topic AND p.wording = n.wording
        AND n.language IN (p.language, p.other_language)
    GROUP BY ALL
)
SELECT model, country, language, other_language,
    count(*) FILTER (here AND NOT there) AS only_here,
    count(*) FILTER (here AND there) AS in_both,
    count(*) FILTER (there AND NOT here) AS only_there
FROM told
GROUP BY ALL
ORDER BY model, country, language;
