-- lookups: what was turned, so that a source sees to the items that bear these names.
INSERT INTO lookups BY NAME
SELECT DISTINCT lookup, language, surface FROM turned ANTI JOIN lookups USING (lookup);
