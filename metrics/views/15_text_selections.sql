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
