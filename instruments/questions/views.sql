-- Answers to questions as readers read them, and their counts.
--
-- A study is what is counted together: dataset, language, model, method, reader. What did not come, and what is not read
-- yet, has the reader '-': it belongs to every reader of its study.

-- known_questions: a row is a question, with what numbers ask of it.
CREATE VIEW known_questions AS
SELECT
    question_id, set AS dataset, language, kind, name, unit, roles, "right", facets['pair'] AS pair,
    map_from_entries(list_filter(map_entries(facets), lambda one: one.key <> 'pair')) AS facets,
    list_contains(roles, 'person') AS undirected
FROM questions;

-- read_answers: a row is an answer that readers read: what the model wrote, or likelihoods. Attention is no answer.
CREATE VIEW read_answers AS SELECT * FROM answers WHERE method <> 'attention';

-- question_readings: a row is an answer as one reader reads it, with what is to be known of its question.
--   name: the publisher's id of the question
--   matched: of open questions: how far the text matches an accepted answer, 0 to 1, as the reader compares them; where all
--     options that fit are asked for: the F1 of the picked and the right ones
--   also: other options that are picked, where all that fit are asked for
--   right: a right option is picked; where all that fit are asked for, just the right ones; NULL without a right option
--   chance: how often a guess is right: right options of all
--   unnamed: nothing is read, and the answer names no option: it may mean 'unknown' in words that no rule knows
CREATE VIEW question_readings AS
SELECT
    a.answer_id, q.dataset, q.language, a.model, a.method, coalesce(r.reader, '-') AS reader, a.prompt AS wording,
    q.question_id, q.name, q.unit, q.kind, q.facets, q.pair, q.undirected, a."order", a.sample,
    r.picked, list_position(a."order", r.picked) - 1 AS place, nullif(q.roles[r.picked + 1], '') AS role,
    CASE
        WHEN len(q."right") = 0 THEN NULL WHEN q.kind = 'choice' AND r.matched IS NOT NULL THEN r.matched = 1
        ELSE coalesce(list_contains(q."right", r.picked), false)
    END AS "right",
    CASE WHEN len(q."right") > 0 THEN len(q."right") / len(a."order") END AS chance, r.ground, r.matched, r.also,
    CASE
        WHEN a.status <> 'ok' THEN 'failed' WHEN r.picked IS NOT NULL THEN 'picked'
        WHEN r.ground IN ('refusal', 'tie') THEN r.ground
        WHEN r.ground = 'text' OR (r.matched IS NOT NULL AND trim(a.raw, e' \t\n\r') <> '') THEN 'read' ELSE 'unread'
    END AS outcome,
    outcome = 'unread' AND coalesce(r.ground, '') NOT IN ('several', 'conflict', 'denied', 'tie') AS unnamed
FROM read_answers AS a
INNER JOIN known_questions AS q ON q.question_id = a.question_id
LEFT JOIN answer_readings AS r ON r.answer_id = a.answer_id;

-- question_tally: a row is how many answers of a study to questions of one kind, under a prompt, are read alike: the one
-- table that numbers are computed from. Questions of one kind have the same unit and facets, but for `pair`.
--   n: answers
--   matched: of open questions: the sum of how far they match
--   chance: the sum of how often guesses are right
--   unnamed: answers of which nothing is read, and which name no option
CREATE VIEW question_tally AS
SELECT
    dataset, language, model, method, reader, wording, unit, facets, undirected, role, place, "right",
    outcome, count(*) AS n, count(*) FILTER (unnamed) AS unnamed, sum(matched ORDER BY matched) AS matched, sum(chance ORDER BY chance) AS chance
FROM question_readings
GROUP BY ALL;

-- question_orders: a row is the questions of a kind that one prompt asked, and what the order of their options does.
--   questions: questions that were asked
--   reordered: of these, read in two orders or more
--   flipped: of these, not always as the same option
CREATE VIEW question_orders AS
WITH questions_asked AS (
    SELECT
        a.model, a.method, coalesce(r.reader, '-') AS reader, a.prompt AS wording, a.question_id,
        min(r.picked) < max(r.picked) AS flipped,
        -- Hashes of lists are compared faster than lists.
        min(hash(a."order")) FILTER (r.picked IS NOT NULL) < max(hash(a."order")) FILTER (r.picked IS NOT NULL) AS reordered
    FROM read_answers AS a
    LEFT JOIN answer_readings AS r ON r.answer_id = a.answer_id
    GROUP BY ALL
)
SELECT
    k.dataset, k.language, q.model, q.method, q.reader, q.wording, k.unit, k.facets, k.undirected, count(*) AS questions,
    count(*) FILTER (reordered) AS reordered, count(*) FILTER (reordered AND flipped) AS flipped
FROM questions_asked AS q
INNER JOIN known_questions AS k ON k.question_id = q.question_id
GROUP BY ALL;

-- question_ranks: a row is the right candidates of gaps of one kind, and how many of them are among the likeliest: as many
-- candidates as the gap has right ones. A gap whose candidates are all right is left out.
--   golds: right candidates
--   golds_found: of these, among the likeliest
CREATE VIEW question_ranks AS
WITH ranked AS (
    SELECT
        k.dataset, k.language, a.model, a.method, r.reader, a.prompt AS wording, k.unit, k.facets, k.undirected, a."order",
        k."right", CASE r.reader
            WHEN 'mean' THEN list_transform(a.scores, lambda score, place: score / a.tokens[place])
            ELSE a.scores
        END AS likelihoods
    FROM answers AS a
    INNER JOIN known_questions AS k ON k.question_id = a.question_id
    INNER JOIN answer_readings AS r ON r.answer_id = a.answer_id
    WHERE k.kind = 'gap' AND a.status = 'ok' AND len(k."right") BETWEEN 1 AND len(a."order") - 1
)
SELECT
    dataset, language, model, method, reader, wording, unit, facets, undirected, sum(len("right"))::BIGINT AS golds,
    sum(len(list_filter(
        likelihoods, lambda one, place:
            one >= list_sort(likelihoods, 'DESC')[len("right")] AND list_contains("right", "order"[place])
    )))::BIGINT AS golds_found
FROM ranked
GROUP BY ALL;
