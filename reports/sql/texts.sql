-- Share of texts by the region of what they name
-- texts: a row is a model on a topic in a language and a label: how many of the texts that could be labelled
-- have it. Shares and intervals are computed from such counts, prompt by prompt.
--   label: a region's code, 'mixed' or 'neutral'
--   share: share of the labelled texts with this label, 0 to 1, with its interval of other texts of these prompts
--   texts: texts with this label
--   prompts: prompts with a labelled text
--   asked: texts asked for
--   labelled: texts that could be labelled
--   unread: texts that are not extracted or looked up yet
--   off_language: labelled texts in another language or script than the prompt's
--   unplaced: labelled texts, neutral as nothing in them was named, linked, or has a country
-- no rows: nothing is linked, by which texts are told apart
-- printed: model, language, condition, topic, label, share, texts, labelled, asked, unplaced
SELECT model, language, condition, topic, label, count(*) AS texts
FROM text_regions
WHERE label IS NOT NULL
GROUP BY ALL
ORDER BY ALL
