-- inner_texts: a row is a normal form of a name of a topic that is long enough to be told within other words.
CREATE OR REPLACE TABLE inner_texts AS
SELECT DISTINCT normalised
FROM topic_names
WHERE rule_count = 0 AND length(normalised) > CASE WHEN regexp_matches(normalised, '\p{Latin}') THEN 2 ELSE 1 END
