-- The questions that models are to answer by each method, or the items that were scored: with their units and facets, and
-- their names. A question that is made for one model is left out: what it says is that model's.
SELECT
    dataset, language, method, count(*) AS items, count(DISTINCT unit) AS units,
    list([question_id, unit, facets] ORDER BY question_id) AS grouped, list(name ORDER BY question_id) AS names,
    list([question_id, asked, options, "right", unit, other_facets] ORDER BY question_id) AS said
FROM (
    SELECT DISTINCT
        r.dataset, r.language, r.method, question_id, q.unit, q.name, list_sort(map_entries(q.facets))::VARCHAR AS facets,
        list_sort(list_filter(map_entries(q.facets), lambda one: one.key <> 'pair'))::VARCHAR AS other_facets,
        concat_ws(' ', nullif(q.context, ''), q.text) AS asked, array_to_string(q.options, ' | ') AS options,
        array_to_string(list_transform(q."right", lambda place: q.options[place + 1]), ' | ') AS "right"
    FROM question_requests AS r INNER JOIN questions AS q USING (question_id)
    WHERE r.owner IS NULL
)
GROUP BY ALL ORDER BY ALL
