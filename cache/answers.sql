-- What runs beside this one have answered already: a row is a response, with the cell that it has in this run.
-- Where several runs have it, the first by file name speaks.
SELECT DISTINCT ON (stored.response_id)
    stored.* REPLACE (
        wanted.prompt_id AS prompt_id, wanted.condition AS condition, wanted.country AS country,
        NULL AS purchase -- by this run nothing was paid for it
    )
FROM (
    FROM read_parquet($files, filename = 'file', union_by_name = true)
    UNION ALL BY NAME FROM blank -- columns that came later than a file are null
) AS stored
JOIN wanted ON wanted.response_id = stored.response_id
WHERE stored.status = 'ok'
ORDER BY stored.response_id, stored.file
