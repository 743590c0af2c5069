-- What runs beside this one have answered already: a row is a response, with the cell and the key that it has in this run.
-- Where several runs have it, the first by file name speaks.
SELECT DISTINCT ON (wanted.response_id)
    stored.* REPLACE (
        wanted.response_id AS response_id, wanted.sampling_id AS sampling_id,
        wanted.prompt_id AS prompt_id, wanted.condition AS condition, wanted.country AS country,
        NULL AS purchase -- by this run nothing was paid for it
    )
FROM read_parquet($files, filename = 'file') AS stored
JOIN wanted ON stored.response_id = wanted.source_id
WHERE stored.status = 'ok'
ORDER BY wanted.response_id, stored.file
