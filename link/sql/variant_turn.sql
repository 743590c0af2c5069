-- forms: what one rule of $language makes of the forms that were turned $turns times.
INSERT INTO forms
SELECT form.lookup, form.fold, $turns + 1, regexp_replace(form.key, $pattern, $replacement)
FROM forms AS form JOIN lookups USING (lookup)
WHERE lookups.language = $language AND form.turns = $turns AND regexp_matches(form.key, $pattern);
