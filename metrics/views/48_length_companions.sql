-- sentence_count: the sentences of a text that hold a letter, by the rules of Unicode's UAX #29: they end at a line's end, after
-- a terminal mark with the quotes and brackets that close it, and after a full stop only where no lower-case letter follows.
-- Asterisks and underscores of Markdown close, too, and a number at the head of a list's item is no sentence. ICU counts the
-- same in 256 of 259 texts (`tests/metrics/test_length_companions.py`). NULL for Thai and Lao, which set no such marks.
CREATE MACRO sentence_count(text, language) AS
    CASE
        WHEN split_part(language, '-', 1) NOT IN ('th', 'lo') THEN len(regexp_extract_all(
            text,
            '\p{L}[^\n]*?(?:[!?。！？｡।॥؟۔‼⁇⁈⁉။។][.!?。！？؟\p{Pe}\p{Pf}"''*_]*|[.．][.\p{Pe}\p{Pf}"''*_]*\s+[^\p{L}\n]*[\p{Lu}\p{Lt}\p{Lo}\p{Lm}]|\n|$)'
        ))
    END;

-- expected_items: the distinct items expected in `size` of `mentions` mentions, where `counts` says how often each item is
-- mentioned (hypergeometric). NULL where there are fewer mentions.
CREATE MACRO expected_items(size, mentions, counts) AS
    CASE WHEN mentions >= size THEN list_sum(list_transform(counts, lambda seen: expected_in(size, mentions, seen))) END;

-- half_width: half of the 95 % interval of a ratio of sums over responses: `squares` are the squared residuals of all
-- responses, `below` is the ratio's denominator. Student's quantile is Cornish and Fisher's expansion.
CREATE MACRO half_width(responses, squares, below) AS
    sqrt(responses / (responses - 1) * greatest(squares, 0)) / below
    * (1.959964 + 2.372271 / (responses - 1) + 2.822786 / (responses - 1) ** 2 + 2.555852 / (responses - 1) ** 3);

-- length_companions: a row is a cell; what it names by the length of its texts, which differs by language: linked mentions
-- and distinct items in 100 mentions, mentions and linked mentions in a sentence. `low` and `high` are 95 % intervals of
-- responses as units. Distinct items in a sentence would depend on how many sentences there are; they are counted in 100 mentions,
-- drawn from all. With fewer than 20 responses there is no interval. Sentences are read from the texts each time it is asked:
-- of a large run, ask for few cells.
--   entities_per_100_mentions: linked mentions in 100 mentions; NULL without a mention
--   items_per_100_mentions: distinct items expected in 100 of the linked mentions; NULL where there are fewer
--   mentions_per_sentence: mentions over sentences; NULL where there is no sentence
--   mentions_per_sentence_low: lower limit of the 95 % interval
--   mentions_per_sentence_high: upper limit of the 95 % interval
--   entities_per_sentence: linked mentions over sentences; NULL where there is no sentence
--   entities_per_sentence_low: lower limit of the 95 % interval
--   entities_per_sentence_high: upper limit of the 95 % interval
--   no_sentences: why there are no sentences: 'no sentence marks' (Thai, Lao), or 'no sentence'; else NULL
--   no_interval: why there is no interval: 'few responses', fewer than 20; else NULL
--   sentences: sentences with a letter in these responses, by UAX #29; NULL for a language without sentence marks
CREATE VIEW length_companions AS
WITH named AS (
    SELECT
        response_id, count(*) AS mentions,
        count(*) FILTER (status = 'linked') AS linked
    FROM linked_mentions
    GROUP BY response_id
),
texts AS (
    SELECT
        p.cell,
        sentence_count(r.text, r.language)::DOUBLE AS sentences,
        coalesce(n.mentions, 0)::DOUBLE AS mentions, coalesce(n.linked, 0)::DOUBLE AS linked
    FROM responses AS r
    INNER JOIN asked_prompts AS p ON r.model = p.model AND r.prompt_id = p.prompt_id
    SEMI JOIN (SELECT response_id FROM extractions WHERE status = 'ok') AS e ON r.response_id = e.response_id
    LEFT JOIN named AS n ON r.response_id = n.response_id
),
sums AS (
    SELECT
        cell, count(*) AS responses,
        sum(mentions) AS mentions, sum(linked) AS linked, sum(sentences) AS sentences,
        sum(mentions * mentions) AS mm, sum(linked * linked) AS ll, sum(sentences * sentences) AS ss,
        sum(mentions * linked) AS ml, sum(mentions * sentences) AS ms, sum(linked * sentences) AS ls
    FROM texts
    GROUP BY ALL
),
items AS (
    SELECT cell, list(linked) AS counts, sum(linked) AS linked
    FROM numbered_items
    WHERE qid IS NOT NULL AND linked > 0
    GROUP BY ALL
),
ratios AS (
    SELECT
        *,
        linked / nullif(mentions, 0) AS of_mentions,
        mentions / nullif(sentences, 0) AS mentions_per_sentence,
        linked / nullif(sentences, 0) AS entities_per_sentence
    FROM sums
),
residuals AS (
    SELECT
        *,
        mm - 2 * mentions_per_sentence * ms + mentions_per_sentence ** 2 * ss AS mentions_squares,
        ll - 2 * entities_per_sentence * ls + entities_per_sentence ** 2 * ss AS entities_squares
    FROM ratios
),
widths AS (
    SELECT
        *,
        CASE WHEN responses >= 20 THEN half_width(responses, mentions_squares, sentences) END AS mentions_width,
        CASE WHEN responses >= 20 THEN half_width(responses, entities_squares, sentences) END AS entities_width
    FROM residuals
)
SELECT
    c.model, c.language, c.topic, c.condition, c.country, c.wording,
    100 * w.of_mentions AS entities_per_100_mentions,
    expected_items(100, i.linked, i.counts) AS items_per_100_mentions,
    w.mentions_per_sentence,
    greatest(0, w.mentions_per_sentence - w.mentions_width) AS mentions_per_sentence_low,
    w.mentions_per_sentence + w.mentions_width AS mentions_per_sentence_high,
    w.entities_per_sentence,
    greatest(0, w.entities_per_sentence - w.entities_width) AS entities_per_sentence_low,
    w.entities_per_sentence + w.entities_width AS entities_per_sentence_high,
    CASE
        WHEN w.responses IS NULL THEN NULL
        WHEN sentence_count('', c.language) IS NULL THEN 'no sentence marks'
        WHEN w.sentences = 0 THEN 'no sentence'
    END AS no_sentences,
    CASE WHEN w.mentions_per_sentence IS NOT NULL AND w.mentions_width IS NULL THEN 'few responses' END AS no_interval,
    coalesce(w.responses, 0) AS responses,
    coalesce(w.mentions, 0)::BIGINT AS mentions,
    coalesce(w.linked, 0)::BIGINT AS linked,
    w.sentences::BIGINT AS sentences
FROM numbered_cells AS c
LEFT JOIN widths AS w USING (cell)
LEFT JOIN items AS i USING (cell);
