-- How models were asked: a row is a prompt of a set in a language and method. Of imported scores nobody knows it.
--   n: answers to each request
--   orders: in which options were shown, of questions that have several
--   settings: of each way that it was asked, the prompt's wording, as a hash, and the decoding. Of answers that came in a file
--     the wording alone; NULL where they are to no prompt of the set
SELECT
    r.dataset, r.language, r.method, r.prompt, max(r.n) AS n,
    list_sort(list(DISTINCT r."order") FILTER (len(r."order") > 1 AND r.kind = 'choice')) AS orders,
    list_sort(list(DISTINCT a.settings) FILTER (a.settings <> '{}')) AS settings
FROM question_requests AS r
LEFT JOIN run_asked AS a
    ON a.instrument = 'questions' AND NOT a.reads AND a.id = r.asked_id
    AND (a.prompt = r.prompt AND a.what = concat_ws(' ', r.dataset, r.language, r.method) OR contains(a.what, ' imported '))
WHERE r.method <> 'scored'
GROUP BY ALL ORDER BY ALL
