-- lookups: add the expansions, so that the source loads the items with these names.
INSERT INTO lookups BY NAME
SELECT DISTINCT lookup, language, surface FROM expansions ANTI JOIN lookups USING (lookup);
