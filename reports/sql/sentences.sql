-- Sentences that models wrote, a few of each model in each language
-- sentences: a row is a text of a model with a linked item in it, which is no refusal and in the prompt's language. Those of
-- prompts that name a country come first, and of different countries before two of one; among them the lowest hash: as good
-- as by chance, and always the same.
--   start: where the item's mention begins in the text
--   end: where it ends
--   $most = 3: of a model in a language, at most
WITH mentioned AS (
    SELECT m.response_id, min({'start': m.start, 'end': m."end"}) AS place
    FROM mentions AS m INNER JOIN links AS l USING (query)
    WHERE m.counted AND NOT m.hallucinated AND m.start IS NOT NULL AND l.status = 'linked'
    GROUP BY m.response_id
),
laps AS (
    SELECT
        r.model, r.language, r.topic, r.country, r.request_id, r.sample, r.text, m.place.start AS start, m.place."end" AS "end",
        md5(r.request_id || ' ' || r.sample) AS hash,
        row_number() OVER (PARTITION BY r.model, r.language, r.country ORDER BY hash) AS lap
    FROM checked_responses AS r INNER JOIN mentioned AS m USING (response_id)
    WHERE r.status = 'ok' AND NOT is_refusal(r.ending, r.refused)
        AND NOT is_off_language(r.detected_language, r.language, r.script_share)
)
SELECT model, language, topic, country, request_id, sample, text, start, "end"
FROM laps
QUALIFY row_number() OVER (PARTITION BY model, language ORDER BY country IS NULL, lap, hash) <= $most
ORDER BY model, language, country IS NULL, lap, hash;
