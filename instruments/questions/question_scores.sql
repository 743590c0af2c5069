-- Numbers of question sets
-- question_scores: a row is a number of a set as a model answers it, by a reader: over prompts or under one of them, with
-- its 95 % interval over other questions like these, and over other prompts where there are several, or the reason why it
-- has none. Where fewer than half of the answers that a number is of are read, there is no number.
--   $part = all: which questions: all, or each value of a facet: category, country, label, level, ...; any for all parts
--   $prompts = mean|each: the mean over prompts, or each of them
-- printed: dataset, language, model, reader, value, prompt, condition, metric, estimate, as_unknown, n, unread, undirected
-- no rows: no answer of a question set has a score: `polyculture ask SET --model MODEL` asks; neither attention alone nor a set whose numbers cannot be computed (`polyculture data check SET`) has one
SELECT *
FROM question_scores
WHERE $part IN ('any', part) AND (prompt IS NULL) = ($prompts = 'mean')
ORDER BY dataset, language, model, method, reader, condition, part = 'all' DESC, part, value, prompt, metric
