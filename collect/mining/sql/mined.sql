-- A row is a frequent n-gram: its most frequent spelling, its numbers of matches and of different documents, its matches as
-- the longest n-gram (`completions`, 0 where it was not chosen), its termhood, its patterns, and up to three contexts, from
-- different documents if possible.
--
-- c_value: equation 2 of Frantzi, Ananiadou & Mima (2000), doi:10.1007/s007999900023, with log2(size + 1) in place of
-- log2(size), so that single words have a value; nested in are the longer n-grams that were chosen.
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
nested AS (
    SELECT pair.candidate, avg(longer.count) AS longer_count
    FROM (
        SELECT DISTINCT shorter.candidate, longer.candidate AS longer
        FROM occurrences AS shorter
        JOIN occurrences AS longer ON longer.hit = shorter.hit AND longer.size > shorter.size
        SEMI JOIN chosen ON chosen.candidate = longer.candidate
    ) AS pair
    JOIN candidates AS longer ON longer.candidate = pair.longer
    GROUP BY pair.candidate
),
-- A sample of an n-gram's matches in the order of document hashes, which is as good as random; completions first.
sampled AS (
    SELECT
        occurrences.candidate,
        unnest(min_by(
            occurrences.hit, (taken.candidate IS DISTINCT FROM occurrences.candidate, hits.document, hits.place), 12
        )) AS hit
    FROM occurrences
    JOIN hits ON hits.rowid = occurrences.hit
    LEFT JOIN taken ON taken.hit = occurrences.hit
    GROUP BY occurrences.candidate
),
shown AS (
    SELECT sampled.candidate, hits.context,
        min((taken.candidate IS DISTINCT FROM sampled.candidate, hits.document, hits.place)) AS place
    FROM sampled
    JOIN hits ON hits.rowid = sampled.hit
    LEFT JOIN taken ON taken.hit = sampled.hit
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
    coalesce(chosen.completions, 0)::UBIGINT AS completions,
    round(log2(candidates.size + 1) * (candidates.count - coalesce(nested.longer_count, 0)), 3) AS c_value,
    chosen.candidate IS NOT NULL AS chosen,
    by_pattern.patterns,
    contexts.contexts
FROM candidates
JOIN form USING (candidate)
JOIN by_pattern USING (candidate)
JOIN contexts USING (candidate)
LEFT JOIN nested USING (candidate)
LEFT JOIN chosen USING (candidate)
ORDER BY chosen DESC, c_value DESC, candidates.count DESC, candidates.key
