-- declared_metrics: a row is a metric of texts (`metrics/declared.py`), under the name that it has in `numbers`.
--   name: as in the column `metric` of `numbers`
--   title: its name for people
--   contributions: the view that has what each response contributes to it
--   statistic: what is made of these: 'share', 'gain', 'distinct', 'overlap', ...
--   compared: is it compared 'always', and on the report's first tables; 'on request'; or 'never'?
--   place: its place in the order of the report
--   per_country: has it a number of neutral prompts for each country?
--   of_diversity: is it diversity, or does it say how many things are named in cells of any size?
--   judged: what a judged sample of mentions corrects it by: 'labels', 'links' or 'count'; '' where it is not corrected

-- cells: a row is one cell of the experiment: what a model was asked about a topic, in a language, under a condition,
-- of a country (NULL when the condition is neutral), in one wording of the question. The names of a wording stand in one
-- cell. Every asked cell is here, also when nothing came of it. Of an imported model those that it has texts of.
CREATE VIEW cells AS
SELECT
    w.model, p.language, p.topic, p.condition, p.country, p.wording, count(*) AS prompts, sum(w.n)::BIGINT AS asked
FROM wanted_responses AS w
INNER JOIN prompts AS p USING (prompt_id)
GROUP BY ALL;

-- countries: a row is a country of the experiment (ISO 3166).
--   country: ISO 3166
CREATE VIEW countries AS
SELECT country FROM run_countries;

-- neutral_countries: a row is a country for which the neutral prompts of a language are counted: those of the
-- experiment, and those that other prompts of the language name (an implicit prompt may name the language's first
-- country, whatever the experiment is about): gains are measured from there.
CREATE VIEW neutral_countries AS
SELECT language, country FROM (SELECT DISTINCT language FROM prompts), countries
UNION
SELECT language, country FROM prompts WHERE country IS NOT NULL;

-- shared_names: a row is a group of prompts of a language in which one person stands in two wordings or more: what it says of
-- the name, it says in each of them. (`name` is NULL where no person is named.)
CREATE VIEW shared_names AS
SELECT DISTINCT language, condition, country
FROM (
    SELECT language, condition, country, name
    FROM prompts
    WHERE name IS NOT NULL
    GROUP BY ALL
    HAVING count(DISTINCT wording) > 1
);

-- numbered_cells: a row is a cell under a number.
CREATE VIEW numbered_cells AS
SELECT
    row_number() OVER (ORDER BY model, topic, condition, country NULLS FIRST, wording, language)::INTEGER AS cell,
    *
FROM cells;

-- asked_prompts: a row is one of `wanted_responses` with the numbers of its cell and, as its model is asked it, of its
-- prompt. Joining responses, extractions or mentions with it by their request finds their cell, with one number instead
-- of six names; `prompt` and `sample` are a response's name in two numbers.
CREATE VIEW asked_prompts AS
SELECT w.*, c.cell, row_number() OVER (ORDER BY w.model, w.prompt_id)::INTEGER AS prompt
FROM wanted_responses AS w
INNER JOIN prompts AS p USING (prompt_id)
INNER JOIN numbered_cells AS c
    ON w.model = c.model AND p.language = c.language AND p.topic = c.topic AND p.condition = c.condition
    AND p.country IS NOT DISTINCT FROM c.country AND p.wording = c.wording;

-- response_number: a response as one number: that of its prompt in the upper half, its sample in the lower. `prompt_of` gives the
-- number of the prompt back.
CREATE MACRO response_number(prompt, sample) AS prompt * 4294967296 + sample;
CREATE MACRO prompt_of(response) AS (response >> 32)::INTEGER;

-- asked_extractions: a row is a response that an extractor was given, with the numbers of its cell and prompt. The metrics are
-- based on those that are `whole`.
--   response: the response in a number (`response_number`)
--   copied: is the response a copy of another one?
--   whole: did the extractor read it whole, and is it no copy?
CREATE VIEW asked_extractions AS
SELECT
    p.model, p.cell, p.prompt, e.request_id, e.sample, response_number(p.prompt, e.sample) AS response, e.status,
    c.sample IS NOT NULL AS copied, e.status = 'ok' AND NOT copied AS whole
FROM extractions AS e
INNER JOIN asked_prompts AS p USING (request_id)
LEFT JOIN copies AS c ON e.request_id = c.request_id AND e.sample = c.sample;

-- read_texts: a row is a response that an extractor read whole, and that is no copy: what the metrics are based on. Comparisons are
-- also made without those that refuse, without those in another language, and without those that were cut.
--   refused: does it refuse?
--   off_language: is it in another language or script than its prompt's?
--   cut: was it cut at the limit of tokens?
--   unchecked: nobody knows whether it refuses
--   undecided_language: its language is not known
--   unknown_ending: nobody recorded why it ended, or in a word that is not known
CREATE VIEW read_texts AS
WITH texts AS (
    SELECT
        request_id, sample, is_refusal(ending, refused) AS refused, is_off_language(detected_language, language, script_share) AS off_language,
        ending = 'cut' AS cut, refused IS NULL AND ending IS DISTINCT FROM 'withheld' AS unchecked,
        detected_language IS NULL AND NOT is_wrong_script(script_share) AS undecided_language,
        ending IS NULL OR ending = 'unknown' AS unknown_ending
    FROM checked_responses
)
SELECT
    e.model, e.cell, e.prompt, e.sample, e.response, coalesce(t.refused, false) AS refused, coalesce(t.off_language, false) AS off_language,
    coalesce(t.cut, false) AS cut, coalesce(t.unchecked, true) AS unchecked,
    coalesce(t.undecided_language, true) AS undecided_language, coalesce(t.unknown_ending, true) AS unknown_ending
FROM asked_extractions AS e
LEFT JOIN texts AS t ON e.request_id = t.request_id AND e.sample = t.sample
WHERE e.whole;

-- linked_mentions: a row is a mention that counts (a kind that is counted, found in its response) with what became of
-- it: `status` is 'linked', 'ambiguous' (rivals too close to choose: `qid` is the first of them), 'no candidate', 'no
-- path', or NULL while nobody looked it up. The metrics take 'linked' only.
--   status: 'linked', 'ambiguous', 'no candidate' or 'no path'; NULL while nobody looked it up
--   granularity: the mention's label: 1 specific, 0 general
--   qid: the item; of an ambiguous mention the first of its rivals; NULL where there is none
--   ambiguous: is the status 'ambiguous'?
--   start: where the surface begins in the response's text, in characters
--   end: where it ends, in characters
--   only_english: is it in another language, and its item found by an English name alone?
--   english_qid: where own words lead to `qid` and the English name does not: the item of the topic that the English name matches
--   english: its English or international name as the extractor gives it; NULL where it gives none
--   repaired: did the extractor return other words? `surface` is the passage of the text nearest to them
--   returned: the words that it returned, of a repaired mention
CREATE VIEW linked_mentions AS
SELECT
    m.* EXCLUDE (counted, hallucinated),
    l.status,
    l.qid,
    l.status = 'ambiguous' AS ambiguous,
    l.matched_by,
    l.match,
    l.matched,
    l.only_english,
    l.english_qid
FROM mentions AS m
LEFT JOIN (SELECT query, status, qid, matched_by, match, matched, only_english, english_qid FROM links) AS l USING (query)
WHERE m.counted AND NOT m.hallucinated;

-- cell_extractions: a row is a cell; what the extractor did with its responses, in counts.
CREATE VIEW cell_extractions AS
SELECT
    cell, count(*) FILTER (whole) AS extracted, count(*) FILTER (status = 'failed' AND NOT copied) AS extraction_failed,
    count(*) FILTER (copied) AS copied
FROM asked_extractions
GROUP BY ALL;

-- numbered_mentions: a row is a mention under the numbers of its cell, prompt and sample: numbers alone, since there are
-- millions. Mentions of copies are left out. Its words stand in `links`, under its query. `counts`: is it one of `linked_mentions`?
--   granularity: the mention's label: 1 specific, 0 general
--   counts: is it of a counted kind, and found in its response?
CREATE VIEW numbered_mentions AS
SELECT
    p.cell, p.prompt, m.sample::INTEGER AS sample, m.query, m.granularity, m.counted AND NOT m.hallucinated AS counts,
    m.counted AND m.hallucinated AS hallucinated
FROM mentions AS m
INNER JOIN asked_prompts AS p USING (request_id)
ANTI JOIN copies AS c ON m.request_id = c.request_id AND m.sample = c.sample;

-- cell_surfaces: a row is a surface of a cell's counted mentions under one dictionary form and English name (a query of the
-- linker), with how many they are, how many of them `specific`, and what it means.
--   mentions: mentions of the cell with this query
--   specific: mentions with granularity 1
--   kind: NULL, as `surface` is, while nobody looked it up
--   english_qid: where own words lead to `qid` and the English name does not: the item of the topic that the English name matches
CREATE VIEW cell_surfaces AS
WITH surfaces AS (
    SELECT cell, query, count(*) AS mentions, count(*) FILTER (granularity = 1) AS specific
    FROM numbered_mentions
    WHERE counts
    GROUP BY ALL
)
SELECT s.cell, s.query, l.kind, l.surface, s.mentions, s.specific, l.status, l.qid, l.only_english, l.english_qid
FROM surfaces AS s
LEFT JOIN links AS l USING (query);

-- cell_mentions: a row is a cell with at least one mention; what kinds of mentions they are, and what became of those that
-- count, in counts.
CREATE VIEW cell_mentions AS
WITH counted AS (
    SELECT
        cell, sum(mentions) AS mentions,
        sum(mentions) FILTER (status = 'linked') AS linked,
        sum(mentions) FILTER (status = 'ambiguous') AS ambiguous,
        sum(mentions) FILTER (status = 'no candidate') AS no_candidate,
        sum(mentions) FILTER (status = 'no path') AS no_path,
        sum(mentions) FILTER (status IS NULL) AS awaiting
    FROM cell_surfaces
    GROUP BY cell
    UNION ALL BY NAME
    SELECT cell, count(*) FILTER (hallucinated) AS hallucinated, count(*) FILTER (NOT hallucinated) AS uncounted
    FROM numbered_mentions
    WHERE NOT counts
    GROUP BY cell
)
SELECT cell, coalesce(sum(COLUMNS(* EXCLUDE cell)), 0)::BIGINT
FROM counted
GROUP BY cell;

-- mean_label: the mean of the 0/1 labels of some mentions. As a decimal, so that sums of it do not depend on their order.
CREATE MACRO mean_label(specific, mentions) AS (specific / nullif(mentions, 0))::DECIMAL(18, 15);

-- named_items: a row is an item that a response of a cell names: one that a counted mention of it is linked to. All metrics are
-- made of these rows. The number of an item is its QID's.
--   response: the response in a number (`response_number`)
--   mentions: mentions of the response that are linked to the item
--   specific: those of them with granularity 1
--   by_english: does each of them rest on the English name that the extractor gave, since its own words match nothing?
CREATE VIEW named_items AS
SELECT
    m.cell, response_number(m.prompt, m.sample) AS response, l.item, count(*) AS mentions,
    count(*) FILTER (m.granularity = 1) AS specific, bool_and(l.only_english) AS only_english, bool_and(l.by_english) AS by_english
FROM numbered_mentions AS m
INNER JOIN (
    SELECT query, substr(qid, 2)::BIGINT AS item, only_english, coalesce(matched_by = 'english', false) AS by_english
    FROM links
    WHERE status = 'linked'
) AS l USING (query)
WHERE m.counts
GROUP BY ALL;

-- cell_incidence: a row is a linked item of a cell, with the number of responses that mention it (`seen`), the mentions
-- there, and how many of them are `specific`.
--   seen: responses with a mention that is linked to the item
--   mentions: mentions linked to the item
--   specific: those of them with granularity 1
CREATE VIEW cell_incidence AS
SELECT
    cell, 'Q' || item AS qid, count(*) AS seen, sum(mentions)::BIGINT AS mentions, sum(specific)::BIGINT AS specific
FROM named_items
GROUP BY cell, item;

-- linked_incidences: a row is a cell with a linked item, and how often its items count, each once per response that mentions it.
CREATE VIEW linked_incidences AS
SELECT cell, sum(seen)::BIGINT AS incidences
FROM cell_incidence
GROUP BY cell;

-- looked_up: is a cell's set of items worth the name? Some response was read, and not all of its mentions await their
-- look-up.
CREATE MACRO looked_up(responses, mentions, awaiting) AS responses > 0 AND (mentions = 0 OR awaiting < mentions);

-- cell_sizes: a row is a cell: what its numbers rest on.
--   known: are its items known (`looked_up`)? Else nothing that is made of them is a number
CREATE VIEW cell_sizes AS
SELECT
    c.cell, c.model, c.language, c.topic, c.condition, c.country, c.wording, coalesce(e.extracted, 0) AS responses,
    coalesce(m.mentions, 0) AS mentions, coalesce(m.linked, 0) AS linked, coalesce(m.ambiguous, 0) AS ambiguous,
    coalesce(m.awaiting, 0) AS awaiting, coalesce(n.incidences, 0) AS incidences,
    looked_up(coalesce(e.extracted, 0), coalesce(m.mentions, 0), coalesce(m.awaiting, 0)) AS known
FROM numbered_cells AS c
LEFT JOIN cell_extractions AS e USING (cell)
LEFT JOIN cell_mentions AS m USING (cell)
LEFT JOIN linked_incidences AS n USING (cell);
