-- What failed and why, whoever asked: each table whose rows may fail is in `failed`.

-- plain_message(words): a message without what differs from one row to the next: bodies, quotations, words of another
-- script in a Latin sentence, ids, days and months, numbers.
CREATE MACRO without_quotations(words) AS
    regexp_replace(regexp_replace(regexp_replace(
        words,
        '[{\[<].*', '…', 'gs'),
        '"[^"]*"|`[^`]*`|“[^”]*”', '…', 'g'),
        '(^|[ (:=,])''[^'']*''', '\1…', 'g');
CREATE MACRO without_other_scripts(words) AS
    CASE WHEN regexp_matches(words, '\A[^A-Za-z\x{c0}-\x{24f}\x{1e00}-\x{1eff}]*[A-Za-z\x{c0}-\x{24f}\x{1e00}-\x{1eff}]+ +[A-Za-z\x{c0}-\x{24f}\x{1e00}-\x{1eff}]')
        THEN regexp_replace(words, '[^\x00-\x7f\x{a0}-\x{24f}\x{1e00}-\x{1eff}\x{2000}-\x{206f}]+( +[^\x00-\x7f\x{a0}-\x{24f}\x{1e00}-\x{1eff}\x{2000}-\x{206f}]+)*', '…', 'g')
        ELSE words END;
CREATE MACRO plain_message(words) AS
    regexp_replace(regexp_replace(regexp_replace(regexp_replace(
        without_other_scripts(without_quotations(words)),
        '(?i)\b((request|req|trace|correlation|session|cf-ray|ray)[ _-]?id)[:=# ]+[^\s,;)]+', '\1 #', 'g'),
        '\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b', '#', 'g'),
        '[A-Za-z0-9_.+-]*[0-9][A-Za-z0-9_.+-]*', '#', 'g'),
        '#([ :,./T-]*#)+', '#', 'g');

-- plain_reason(error): the reason of a failure by which it is counted: a status of HTTP stays.
CREATE MACRO plain_reason(error) AS
    rtrim(left(
        regexp_extract(coalesce(nullif(error, ''), 'no reason given'), '^HTTP [0-9]{3}\b(: )?')
        || plain_message(regexp_replace(coalesce(nullif(error, ''), 'no reason given'), '^HTTP [0-9]{3}\b(: )?', '')),
        120));

-- failed: a row is something that was asked and has no usable answer.
--   stage: the stage that asked
--   topic: what the job is about: the topic of the prompt, or data set, culture and type of the entities

-- failures: a row is a reason why answers of a job are missing, and how many; most frequent first with
-- `FROM failures ORDER BY "rows" DESC`.
--   stage: the stage that asked
--   topic: what the job is about: the topic of the prompt, or data set, culture and type of the entities
--   reason: why they failed, without numbers, names and ids
--   rows: how many failed for it
--   retryable: of these: how many the next run asks again; the others need --retry-failed; an answer that cannot be
--     read fails the same again
CREATE VIEW failures AS
SELECT stage, model, language, topic, plain_reason(error) AS reason, count(*) AS "rows",
    count(*) FILTER (retryable IS DISTINCT FROM false) AS retryable
FROM failed GROUP BY stage, model, language, topic, plain_reason(error);
