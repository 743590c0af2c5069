-- inflections: a row is a form of $language to which rules may still apply, at first an uninflected spelling. `letters` is
-- the length of the mention; `round` counts the passes of the rules for endings, so that no form is inflected twice.
-- `turned`: a rule was applied that makes another form of a word, as persons' names have none. Each connection has its own
-- table: two languages are inflected in parallel.
CREATE OR REPLACE TEMP TABLE inflections AS
SELECT
    spelling, 0::UTINYINT AS rule_count, key, length(replace(key, ' ', ''))::INTEGER AS letters, 0::UTINYINT AS round,
    false AS turned
FROM spellings
WHERE language = $language
