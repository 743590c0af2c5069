-- loose_forms: a row is a form of a spelling with its loose form, which a name of an item of the topics may have.
CREATE OR REPLACE TABLE loose_forms AS
SELECT wanted.*
FROM (
    SELECT spelling, rule_count, key, loose(key) AS loose, turned
    FROM (
        SELECT spelling, 0 AS rule_count, key, false AS turned FROM spellings
        UNION ALL SELECT spelling, rule_count, key, turned FROM forms
    )
) AS wanted
SEMI JOIN (FROM loose_names SEMI JOIN topic_items USING (item)) AS name ON name.loose_hash = loose_hash(wanted.loose);

-- named_items: a row is an item of the topics that may have such a name.
CREATE OR REPLACE TABLE named_items AS
SELECT DISTINCT item
FROM loose_names
SEMI JOIN loose_forms ON loose_hash(loose_forms.loose) = loose_names.loose_hash
SEMI JOIN topic_items ON topic_items.item = loose_names.item;
