-- A row is an item that a filter keeps of a question about a culture, in the layers of a model. The first of a question is
-- the most frequent one; of equals that of the lower layer.
SELECT
    j.model, j.dataset, j.culture, j.question_id, arg_min(j.item, (j.layer, j.place)) AS item
FROM probe_judged AS j
WHERE j.kept AND j.arm = 'patched' AND j.filter = $filter AND j.language = $language
GROUP BY j.model, j.dataset, j.culture, j.question_id, j.item_key
ORDER BY j.model, j.dataset, j.culture, j.question_id, count(*) DESC, min(j.layer), min(j.place), j.item_key
