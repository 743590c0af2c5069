-- A row is a candidate of a query, with the reason why it was or was not linked.
SELECT
    query.query,
    'Q' || found.item AS qid,
    candidate.rank,
    matched_by(found.rank_key) AS matched_by,
    match_of(found.rank_key) AS match,
    found.matched.name AS matched,
    found.matched.language AS matched_language,
    candidate.reached_kind,
    'Q' || candidate.root AS root,
    list_transform(candidate.path, lambda step: 'Q' || step) AS path,
    candidate.distance,
    item.sitelinks,
    CASE
        WHEN candidate.rank IS NULL THEN 'rejected: not in topic ' || query.topic
        WHEN candidate.rank = 1 AND first.close THEN 'ambiguous: the first of several that nothing clearly separates'
        WHEN candidate.rank = 1 AND first.outside THEN 'ambiguous: an item outside the topic bears the name more surely'
        WHEN candidate.rank = 1 AND first.contradicted THEN 'ambiguous: the mention''s own words name something else'
        WHEN candidate.rank = 1 AND first.by_english THEN 'linked: the only one of several alike that the English name matches, too'
        WHEN candidate.rank = 1 AND first.survivors = 1 THEN 'linked: the only one of this name in the topic'
        WHEN candidate.rank = 1 THEN 'linked: the best of those in the topic'
        WHEN candidate.other_kind AND NOT candidate.akin AND NOT first.other_kind AND candidate.by_key_or_english >= first.by_key_or_english
            THEN format('lost to Q{}: {} where {} is meant', first.item, candidate.reached_kind, query.kind)
        WHEN candidate.rank_key > first.rank_key THEN format(
            'lost to Q{}: {} in {}, against {}', first.item, match_words(candidate.rank_key), found.matched.language,
            match_words(first.rank_key)
        )
        WHEN list_contains(candidate.path, first.item)
            THEN format('lost to Q{}: a kind of it, and the name alone means the general one', first.item)
        WHEN candidate.distance > first.distance + 1 THEN format(
            'lost to Q{}: farther from the topic, {} steps against {}', first.item, candidate.distance, first.distance
        )
        WHEN first.sitelinks + 1 >= 2 * (candidate.sitelinks + 1) THEN format(
            'lost to Q{}: less prominent, {} sitelinks against {}', first.item, candidate.sitelinks, first.sitelinks
        )
        WHEN first.by_english THEN format('lost to Q{}: only that one has the English name, too', first.item)
        ELSE format('too close to Q{} to tell', first.item)
    END AS reason
FROM found
JOIN queries AS query USING (query)
LEFT JOIN ranked AS candidate ON candidate.query = found.query AND candidate.item = found.item
LEFT JOIN chosen AS first ON first.query = found.query
LEFT JOIN wikidata.items AS item ON item.item = found.item
ORDER BY query.query, candidate.rank NULLS LAST, found.item
