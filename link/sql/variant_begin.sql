-- turning: a row is a form of $language that rules may still turn, at first a spelling as it is. `letters` is how many its
-- mention has; `round` counts the passes of rules for endings, so that none turns the same form twice. Every language
-- has its own, for as long as its connection turns forms: two are at work at a time.
CREATE OR REPLACE TEMP TABLE turning AS
SELECT spelling, 0::UTINYINT AS turns, key, length(replace(key, ' ', ''))::INTEGER AS letters, 0::UTINYINT AS round
FROM spellings
WHERE language = $language
