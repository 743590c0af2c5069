-- One row: a hash of what the services answered, the same in whatever order and how often an answer came.
SELECT md5(string_agg(part, ' ' ORDER BY part))
FROM (
    SELECT of || sum(md5_number_lower(row)::HUGEINT) AS part
    FROM (
        SELECT 'item' AS of, items::VARCHAR AS row FROM wikidata.items
        UNION SELECT 'name', names::VARCHAR FROM draft.names
        UNION SELECT 'description', descriptions::VARCHAR FROM draft.descriptions
        UNION SELECT 'claim', claims::VARCHAR FROM wikidata.claims
        UNION SELECT 'redirect', redirects::VARCHAR FROM draft.redirects
        UNION SELECT 'asked', (way, language, term, hits)::VARCHAR FROM draft.fetched WHERE way IN ('name', 'search')
    )
    GROUP BY of
)
