-- classes: remove Wikimedia pages: Wikidata has a list of pancake houses below pancake.
DELETE FROM classes USING only_pages('classes') AS page
WHERE classes.item = page.item AND classes.scope NOT IN (SELECT scope FROM scopes WHERE pages);
