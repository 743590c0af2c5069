-- read_texts: a row is a response that an extractor read whole, and that is no copy: what the metrics are based on. Comparisons are
-- also made without those that refuse, without those in another language, and without those that were cut.
--   refused: does it refuse?
--   off_language: is it in another language or script than its prompt's?
--   cut: was it cut at the limit of tokens?
--   unchecked: nobody looked whether it refuses
--   undecided_language: its language is not known
--   unknown_ending: nobody recorded why it ended, or in a word that is not known
CREATE VIEW read_texts AS
WITH texts AS (
    SELECT
        request_id, sample, is_refusal(ending, refused) AS refused, is_off_language(detected_language, language, script_share) AS off_language,
        ending = 'cut' AS cut, refused IS NULL AND ending IS DISTINCT FROM 'withheld' AS unchecked,
        detected_language IS NULL AND NOT is_wrong_script(script_share) AS undecided_language,
        ending IS NULL OR ending = 'unknown' AS unknown_ending
    FROM responses
)
SELECT
    p.model, p.cell, p.prompt, e.sample, p.prompt * 4294967296 + e.sample AS response, coalesce(t.refused, false) AS refused, coalesce(t.off_language, false) AS off_language,
    coalesce(t.cut, false) AS cut, coalesce(t.unchecked, true) AS unchecked,
    coalesce(t.undecided_language, true) AS undecided_language, coalesce(t.unknown_ending, true) AS unknown_ending
FROM extractions AS e
INNER JOIN asked_prompts AS p USING (request_id)
LEFT JOIN texts AS t ON e.request_id = t.request_id AND e.sample = t.sample
ANTI JOIN copies AS c ON e.request_id = c.request_id AND e.sample = c.sample
WHERE e.status = 'ok';

-- text_selections: a row is a selection of the texts that comparisons are also made of.
--   selection: 'answered' (no refusals), 'complete' (not cut) or 'right language'
--   texts: responses that an extractor read whole, copies aside
--   left_out: those of them that the selection leaves out
--   unknown: those of which nobody knows whether it should leave them out; it keeps them
CREATE VIEW text_selections AS
WITH marked AS (
    SELECT unnest([
        {'selection': 'answered', 'left_out': refused, 'unknown': unchecked},
        {'selection': 'complete', 'left_out': cut, 'unknown': unknown_ending},
        {'selection': 'right language', 'left_out': off_language, 'unknown': undecided_language}
    ]) AS text
    FROM read_texts
)
SELECT
    text.selection AS selection, count(*) AS texts, count_if(text.left_out)::BIGINT AS left_out, count_if(text.unknown)::BIGINT AS unknown
FROM marked
GROUP BY ALL;
