-- A row is a candidate of a query, with the reason why it was or was not linked.
SELECT
    query_group.language,
    query_group.topic,
    query_group.kind,
    query.surface,
    'Q' || candidate.item AS qid,
    candidate.rank,
    match_name(candidate.strength) AS match,
    candidate.name AS matched,
    candidate.language AS matched_language,
    candidate.score,
    candidate.reached AS reached_kind,
    candidate.root,
    candidate.path,
    candidate.distance,
    candidate.sitelinks,
    CASE
        WHEN candidate.rank IS NULL THEN query_group.no_way
        WHEN candidate.rank = 1 AND first.otherwise AND NOT first.close
            THEN format('in doubt: {}, and another has the name outside the topic', match_words(candidate.strength))
        WHEN candidate.rank = 1 AND first.strength = 9 AND NOT first.close
            THEN 'in doubt: the longest name within the mention, whose rest says something else, or names a creator whom the snapshot does not confirm'
        WHEN candidate.rank = 1 AND first.bare AND NOT first.close
            THEN 'in doubt: a given name, or one with a number, which many have'
        WHEN candidate.rank = 1 AND first.apart AND NOT first.close
            THEN 'in doubt: its name has a word in brackets, which sets it apart from what the mention may mean'
        WHEN candidate.rank = 1 AND first.ambiguous THEN 'first of several that nothing clearly separates'
        WHEN candidate.rank = 1 AND first.survivors = 1
            THEN 'won: the only one of this name that reaches the topic'
        WHEN candidate.rank = 1 THEN 'won: the best of those that reach the topic'
        WHEN first.own AND NOT candidate.own THEN format(
            'lost to Q{}: {} where {} is meant', first.item, candidate.reached, query_group.kind
        )
        WHEN candidate.grade > first.grade THEN format(
            'lost to Q{}: {} against {}', first.item, match_words(candidate.strength), match_words(first.strength)
        )
        WHEN candidate.score < first.score THEN format(
            'lost to Q{}: less alike, {:.1f} against {:.1f}', first.item, candidate.score, first.score
        )
        WHEN list_contains(candidate.path, 'Q' || first.item)
            THEN format('lost to Q{}: a kind of it, and the name alone means the general one', first.item)
        WHEN candidate.distance > first.distance + 1 THEN format(
            'lost to Q{}: farther from the topic, {} steps against {}', first.item, candidate.distance, first.distance
        )
        WHEN candidate.sitelinks < first.sitelinks AND first.sitelinks + 1 >= $clear_lead * (candidate.sitelinks + 1)
            THEN format(
                'lost to Q{}: less prominent, {} sitelinks against {}', first.item, candidate.sitelinks, first.sitelinks
            )
        ELSE format('too close to Q{} to tell', first.item)
    END AS reason
FROM ranked_candidates AS candidate
JOIN queries AS query USING (query)
JOIN (SELECT *, format('lost: no way from it to the classes of {}', topic) AS no_way FROM query_group_codes) AS query_group
    ON query_group.query_group = query.query_group
LEFT JOIN best_candidates AS first USING (query)
ORDER BY candidate.query, candidate.rank NULLS LAST, candidate.item
