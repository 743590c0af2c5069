-- How models were asked: a row is a prompt of a set in a language and method. Of imported scores nobody knows it.
--   n: answers to each request
--   orders: in which options were shown, of questions that have several
--   settings: the prompt's wording, as a hash, and the decoding; NULL of answers that came in a file
SELECT
    r.dataset, r.language, r.method, r.prompt, max(r.n) AS n,
    list_sort(list(DISTINCT r."order") FILTER (len(r."order") > 1 AND r.kind = 'choice')) AS orders, any_value(a.settings) AS settings
FROM question_requests AS r
LEFT JOIN run_asked AS a
    ON a.instrument = 'questions' AND a.id = r.asked_id AND a.prompt = r.prompt AND a.what = concat_ws(' ', r.dataset, r.language, r.method)
WHERE r.method <> 'scored'
GROUP BY ALL ORDER BY ALL
