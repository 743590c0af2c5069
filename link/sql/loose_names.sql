-- loose_names: a row is an item, and a hash of the loose form of one of its `name_forms`. Of several forms with one hash too many
-- items are compared, never too few.
CREATE TABLE loose_names AS
SELECT DISTINCT loose_hash(loose) AS loose_hash, item
FROM name_forms
ORDER BY ALL;
