-- word_count: the words of a text, which stand between blanks and hold a letter or a digit. NULL for languages that set no
-- blanks between words: Chinese, Japanese, Thai, Lao, Khmer and Burmese.
CREATE MACRO word_count(text, language) AS
    CASE
        WHEN split_part(language, '-', 1) NOT IN ('zh', 'ja', 'th', 'lo', 'km', 'my', 'yue') THEN
            len(regexp_extract_all(text, '\S*[\p{L}\p{N}]\S*'))
    END;

-- cell_lengths: a row is a cell with a response that the extractor read whole: how long these are on average, in words and
-- in characters, blanks included. All texts are read each time it is asked.
CREATE VIEW cell_lengths AS
SELECT p.cell, avg(word_count(r.text, r.language)) AS words, avg(length(r.text)) AS characters
FROM responses AS r
SEMI JOIN (SELECT response_id FROM extractions WHERE status = 'ok') AS e ON r.response_id = e.response_id
INNER JOIN asked_prompts AS p ON r.model = p.model AND r.prompt_id = p.prompt_id
GROUP BY p.cell;

-- lengths: a row is a model and a language: the length of a response, in words and in characters, the mean over its cells.
--   words: mean over cells of the mean number of words of a response; NULL for languages without blanks between words
--   characters: mean over cells of the mean number of characters of a response, blanks included
--   cells: cells with a response
--   missing: cells without one
CREATE VIEW lengths AS
SELECT
    c.model, c.language, avg(l.words ORDER BY l.words) AS words, avg(l.characters ORDER BY l.characters) AS characters,
    count(l.characters) AS cells, count(*) - count(l.characters) AS missing
FROM numbered_cells AS c
LEFT JOIN cell_lengths AS l USING (cell)
GROUP BY c.model, c.language;
