-- Cultural Bias Scores beside the share of the language in the model's vocabulary
-- culture_vocabularies: a row is a model's Cultural Bias Score in one language and culture, over all types, beside
-- the share of that language in the model's vocabulary: whole entities, plain contexts. Of several readings of a
-- language's ranges of characters, the widest. Languages that share their letters with others, as English, have no
-- share.
-- printed: model, dataset, form, language, culture, setting, characters, share, estimate, contexts
SELECT
    b.model, b.dataset, b.form, b.language, b.culture, b.setting, b.estimate, b.low, b.high, b.contexts, v.characters, v.reading,
    v.own, v.tokens, v.share
FROM bias_intervals AS b
INNER JOIN vocabulary_shares AS v USING (model, language)
WHERE b.metric = 'cbs' AND b.rule = 'sum' AND b.culture IS NOT NULL AND b.entity_type IS NULL AND b.phrasing IS NULL
    AND b.context_prefix IS NULL AND v.share IS NOT NULL
QUALIFY row_number() OVER (
    PARTITION BY b.model, b.dataset, b.form, b.language, b.culture, b.setting, v.characters ORDER BY v.own DESC, v.reading
) = 1
ORDER BY b.dataset, b.form, b.setting, v.characters, b.model, b.language, b.culture
