-- A row is a frequent n-gram: its most frequent spelling, its numbers of matches and of different documents, its patterns, and up
-- to three contexts, from different documents if possible. The most frequent are first; of as many the longest, so that a
-- whole stands before its parts.
WITH form AS (
    SELECT candidate, min_by(form, (-places, form)) AS form
    FROM (SELECT candidate, form, count(*)::BIGINT AS places FROM occurrences GROUP BY candidate, form)
    GROUP BY candidate
),
by_pattern AS (
    SELECT candidate, list({'pattern': pattern, 'count': places} ORDER BY places DESC, pattern) AS patterns
    FROM (
        SELECT candidate, patterns.pattern, count(*)::UBIGINT AS places
        FROM occurrences JOIN patterns ON patterns.number = occurrences.pattern
        GROUP BY candidate, patterns.pattern
    )
    GROUP BY candidate
),
-- A sample of an n-gram's matches in the order of document hashes, which is as good as random.
sampled AS (
    SELECT occurrences.candidate, unnest(min_by(occurrences.hit, (hits.document, hits.place), 12)) AS hit
    FROM occurrences
    JOIN hits ON hits.rowid = occurrences.hit
    GROUP BY occurrences.candidate
),
shown AS (
    SELECT sampled.candidate, hits.context, min((hits.document, hits.place)) AS place
    FROM sampled
    JOIN hits ON hits.rowid = sampled.hit
    GROUP BY sampled.candidate, hits.context
),
contexts AS (
    SELECT candidate, list(context ORDER BY place)[:3] AS contexts FROM shown GROUP BY candidate
)
SELECT
    'm' || left(md5($language || ' ' || candidates.key), 11) AS id,
    form.form AS entity,
    $language AS language,
    candidates.key AS folded,
    candidates.count,
    candidates.documents,
    by_pattern.patterns,
    contexts.contexts
FROM candidates
JOIN form USING (candidate)
JOIN by_pattern USING (candidate)
JOIN contexts USING (candidate)
ORDER BY candidates.count DESC, candidates.size DESC, candidates.key
