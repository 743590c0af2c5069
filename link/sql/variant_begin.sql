-- turning: the spellings of $language, as they are.
CREATE OR REPLACE TABLE turning AS
SELECT spelling, 0::UTINYINT AS turns, key, length(key)::INTEGER AS letters, 0::UTINYINT AS round
FROM spellings
WHERE language = $language
