-- forms: add the inflected forms.
INSERT INTO forms
SELECT spelling, min(rule_count) AS rule_count, key, turned FROM inflections WHERE rule_count > 0 GROUP BY spelling, key, turned
