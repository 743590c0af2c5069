-- Cultural Bias Scores beside the share of the language in the model's vocabulary
-- culture_vocabularies: a row is a model's Cultural Bias Score in one language and culture, over all types, beside
-- the share of that language in the model's vocabulary: whole entities, plain contexts. Of several readings of a
-- language's ranges of characters, the widest. Languages that share their letters with others, as English, have no
-- share.
-- printed: model, dataset, form, language, culture, setting, characters, share, estimate, contexts
SELECT
    b.model, b.dataset, b.facets['form'] AS form, b.language, b.country AS culture, b.condition AS setting,
    b.estimate, b.low, b.high, b.units AS contexts, v.characters, v.reading,
    v.own, v.tokens, v.share
FROM numbers AS b
INNER JOIN vocabulary_shares AS v USING (model, language)
WHERE b.metric = 'cbs' AND b.method = 'sum' AND b.country <> '*' AND b.topic = '*' AND b.facets['phrasing'] IS NULL
    AND b.facets['context_prefix'] IS NULL AND v.share IS NOT NULL
QUALIFY row_number() OVER (
    PARTITION BY b.model, b.dataset, b.facets, b.language, b.country, b.condition, v.characters ORDER BY v.own DESC, v.reading
) = 1
ORDER BY b.dataset, form, setting, v.characters, b.model, b.language, culture
