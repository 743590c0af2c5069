-- topic_names: a row is a name of an item of the topics, in one of its forms, that has the loose form of some mention.
CREATE OR REPLACE TABLE topic_names AS
FROM name_forms SEMI JOIN loose_forms USING (loose);

-- known_forms: a row is a form of a spelling whose loose form is that of such a name.
CREATE OR REPLACE TABLE known_forms AS
SELECT spelling.language, spelling.key AS spelling, form.rule_count, form.key, form.loose, form.turned
FROM loose_forms AS form
SEMI JOIN (FROM topic_names WHERE loose <> '') AS topic_names ON topic_names.loose = form.loose
JOIN spellings AS spelling USING (spelling);
