-- turning: the forms of $language, as they are.
CREATE OR REPLACE TABLE turning AS
SELECT lookup, fold, turns, key, length(key)::INTEGER AS letters FROM forms WHERE language = $language
