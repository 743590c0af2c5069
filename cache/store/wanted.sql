-- What the experiment asks now. From this and its declaration follow which rows of a table count (`cache/store/views.py`):
-- those of a request that stands in `wanted_responses` or here. Rows of other requests stay in the `stored_` views.

-- is_wrong_language: is the language that was detected another one than the prompt's? zh and zh-tw are one language here;
-- what the detector could not tell is not wrong.
CREATE MACRO is_wrong_language(detected, language) AS
    coalesce(split_part(detected, '-', 1) <> split_part(language, '-', 1), false);

-- is_wrong_script: are fewer than half of the letters in the scripts of the prompt's language?
CREATE MACRO is_wrong_script(script_share) AS coalesce(script_share < 0.5, false);

-- is_off_language: is a text in another language or script than the prompt's?
CREATE MACRO is_off_language(detected, language, script_share) AS
    is_wrong_language(detected, language) OR is_wrong_script(script_share);

-- is_refusal: did the provider's filter or its refusal field end the answer, or does the text decline in words?
CREATE MACRO is_refusal(ending, refused) AS coalesce(ending = 'withheld', false) OR coalesce(refused, false);

-- prompts: a row is one filled-in question. A prompt that the file of imported texts does not say has no text.
CREATE VIEW prompts AS SELECT * REPLACE (nullif(text, '') AS text) FROM stored_prompts;

-- wanted_extractions: a row is one of `wanted_responses` with an extractor whose work on them counts, and who reads its
-- answers; `n` is that of the texts that it reads.
CREATE VIEW wanted_extractions AS
SELECT w.* REPLACE (least(w.n, coalesce(e.sample, w.n)) AS n), e.extractor_id, e.reader_id
FROM wanted_responses AS w, (SELECT DISTINCT extractor_id, reader_id, sample FROM run_extractors) AS e;
