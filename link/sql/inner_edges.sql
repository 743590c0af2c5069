-- edged_spellings: a row is a spelling that may begin or end with a carrier word. Longer ones than 120 letters are no mentions of
-- a name.
CREATE OR REPLACE TABLE edged_spellings AS
WITH firsts AS (FROM carrier_edges WHERE side = 'first'),
lasts AS (FROM carrier_edges WHERE side = 'last')
SELECT spelling, language, key
FROM spellings
WHERE length(key) <= 120 AND (
    (language, key[:1]) IN (SELECT (language, letters) FROM firsts)
    OR (language, key[:2]) IN (SELECT (language, letters) FROM firsts)
    OR (language, key[:3]) IN (SELECT (language, letters) FROM firsts)
    OR (language, key[-1:]) IN (SELECT (language, letters) FROM lasts)
    OR (language, key[-2:]) IN (SELECT (language, letters) FROM lasts)
    OR (language, key[-3:]) IN (SELECT (language, letters) FROM lasts)
);
