-- Wordings of the question, of all answers that the run holds (echoed: the word for the type given back)
-- swap_wordings: a row is a wording of the question in a language, with what became of its answers, whatever settings
-- they were asked under.
SELECT
    model, dataset, language, wording, sum(asked)::BIGINT AS asked, sum(readable)::BIGINT AS readable,
    sum("right")::BIGINT AS "right", sum(strict_right)::BIGINT AS strict_right, sum(echoed)::BIGINT AS echoed
FROM qa_wordings
GROUP BY model, dataset, language, wording
ORDER BY model, dataset, language, wording
