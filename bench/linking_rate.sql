-- mentions: $count distinct surfaces with a language, topic and kind, made from the names of a snapshot as texts use them:
-- six in ten as they are, one with another case, one with a slip, one with an ending, one of two halves that is no name.
CREATE TABLE mentions AS
WITH named AS (
    SELECT DISTINCT name.name, catalogue.language, hash(name.name, catalogue.language, round) AS h, round
    FROM wikidata.names AS name
    JOIN catalogue ON catalogue.name_language = name.language
    CROSS JOIN range(4) AS rounds(round)
    WHERE length(name.name) BETWEEN 3 AND 60
),
other AS (
    SELECT *, lead(name) OVER (PARTITION BY language ORDER BY h) AS next, (h >> 8) % 10 AS way,
        2 + (h >> 16)::UBIGINT % greatest(1, length(name) - 2) AS cut
    FROM named
),
written AS (
    SELECT DISTINCT ON (language, surface) language, h, CASE
        WHEN way < 6 THEN name
        WHEN way = 6 THEN upper(name[1:1]) || lower(name[2:])
        WHEN way = 7 THEN name[:cut - 1] || name[cut + 1:]
        WHEN way = 8 THEN name || CASE language
            WHEN 'en' THEN 's' WHEN 'de' THEN 'n' WHEN 'es' THEN 's' WHEN 'tr' THEN 'lar' WHEN 'ko' THEN '를'
            WHEN 'hi' THEN 'ों' WHEN 'fa' THEN '‌ها' WHEN 'ar' THEN 'ات' WHEN 'it' THEN 'i' ELSE '' END
        ELSE name[:length(name) // 2] || coalesce(next[length(next) // 2:], 'x')
    END AS surface
    FROM other
    ORDER BY h, surface
)
SELECT language, kinds.topic, kinds.kind, surface
FROM (SELECT *, row_number() OVER (ORDER BY h, language, surface) AS n FROM written WHERE length(surface) > 1) AS written
JOIN kinds ON kinds.place = written.n % (SELECT count(*) FROM kinds)
WHERE n <= $count
ORDER BY n;
