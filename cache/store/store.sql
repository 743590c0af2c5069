-- The other tables of every run, what was paid for, and what failed.

-- imported_files: a row is a file of texts that somebody else generated.
CREATE VIEW imported_files AS SELECT * FROM stored_imported_files;

-- imported_prompts: a row is a prompt that texts of an imported model answer, and how many.
CREATE VIEW imported_prompts AS SELECT * FROM stored_imported_prompts;

-- import_failures: a row is a row of an imported file that could not be taken, and the reason.
CREATE VIEW import_failures AS SELECT * FROM stored_import_failures;

-- published_items: a row is an item that an imported study found in a text, as its file has it.
CREATE VIEW published_items AS SELECT * FROM stored_published_items;

-- prompt_reviews: a row is what a speaker of its language said of a template. Of templates that changed since, or are not
-- asked, no prompt has the `template_id`.
CREATE VIEW prompt_reviews AS SELECT * FROM stored_prompt_reviews;

-- links: a row is what a surface with its dictionary form and English name means within a language, topic and kind, or why
-- nothing.
--   name: the dictionary form that was looked up, too; NULL where the extractor gives none
--   english: the English name that was looked up, too; NULL where the extractor gives none
--   only_english: is the mention in another language, and its item found by an English name alone? NULL without an item
--   english_qid: where own words lead to `qid` and the English name does not: the item of the topic that the English name matches
CREATE VIEW links AS SELECT * FROM stored_links;

-- candidates: a row is an item that a query may mean, and what became of it.
--   path: QIDs from the item's class up to the root that was reached
--   root: the class of the topic that was reached
--   reached_kind: the kind of the topic whose class was reached: the mention's own where that is possible
--   matched_language: the language of the name that matched, as Wikidata writes it
CREATE VIEW candidates AS SELECT * FROM stored_candidates;

-- entities: a row is a Wikidata item that at least one surface is linked to.
--   revision: the revision of the item that was read; NULL where the snapshot does not say
CREATE VIEW entities AS SELECT * FROM stored_entities;

-- entity_countries: a row is a country of an entity, with the property that says so.
CREATE VIEW entity_countries AS SELECT * FROM stored_entity_countries;

-- snapshot_items: a row is a topic, and how many of its items the snapshot held when the run was linked: in all, those with a name
-- in a language of the experiment, or those that come from a country. Empty for a snapshot that was filled with the run's
-- names: it holds what was named.
--   language: then: those with a name in it; NULL: whatever their names
--   country: then: those that come from there, ISO 3166; NULL: from anywhere
--   names: of a language: how many names these items have in it
CREATE VIEW snapshot_items AS SELECT * FROM stored_snapshot_items;

-- known_countries: a row is a country that the run's links were made with, and its region.
CREATE VIEW known_countries AS SELECT * FROM stored_known_countries;

-- snapshot_links: a row is what a query means with another snapshot: `polyculture link EXPERIMENT --snapshot FILE`.
CREATE VIEW snapshot_links AS SELECT * FROM stored_snapshot_links;

-- models: a row is a model of the run, and what the experiment file says of it.
CREATE VIEW models AS
SELECT m.model, f.origin, f.parameters, f.size, f.open
FROM run_models AS m
LEFT JOIN run_model_facts AS f USING (model);

-- numbers: a row is a number with its 95 % intervals, or the reason why it has none, as the measure computed it last. A
-- number of other data than the run's present data is not shown: see `stale_measures`.
CREATE VIEW numbers AS
SELECT n.* EXCLUDE (inputs) FROM stored_numbers AS n SEMI JOIN run_measures AS m ON n.measure = m.measure AND n.inputs = m.inputs;

-- differences: a row is a difference of two sides in one metric, of one target and selection of texts, over the cells that
-- both have. Rows of other data than the run's present data are not shown, as in `numbers`.
CREATE VIEW differences AS
SELECT d.* EXCLUDE (inputs)
FROM stored_differences AS d
SEMI JOIN run_measures AS m ON d.measure = m.measure AND d.inputs = m.inputs;

-- stale_measures: a row is a measure whose numbers are of other data than the run's present data: measure again.
--   measure: what computed the numbers: 'entities', 'cbs'
CREATE VIEW stale_measures AS
SELECT DISTINCT measure FROM stored_numbers ANTI JOIN run_measures USING (measure, inputs);

-- unusable_extractions: a row is a response of which there are only answers of no use so far: its stage was stopped, and
-- it is asked again.
CREATE VIEW unusable_extractions AS
SELECT 'extract' AS stage, u.model, u.language, u.topic, u.error, true AS retryable
FROM (
    SELECT model, language, topic, response_id, extractor_id, arg_max(error, attempts) AS error
    FROM stored_extractions
    WHERE status = 'unusable'
    GROUP BY ALL
) AS u
SEMI JOIN run_extractors AS r ON u.extractor_id = r.extractor_id
SEMI JOIN responses AS p ON u.response_id = p.response_id
ANTI JOIN extractions AS e ON u.response_id = e.response_id;

-- failed_gold_extractions: a row is a gold text that the run's extractor could not extract in an audit.
CREATE VIEW failed_gold_extractions AS
SELECT 'extract audit' AS stage, g.model, g.language, g.topic, g.error, g.retryable
FROM stored_gold_extractions AS g
SEMI JOIN run_extractors AS r ON g.extractor_id = r.extractor_id
WHERE g.status = 'failed';
