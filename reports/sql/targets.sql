-- What each target of the comparisons tells
-- targets: a row is a target of the comparisons of texts: the same prompts, or new prompts like them.
--   comparisons: how many there are
--   tested: how many of them could be tested
--   told: how many are told apart under every selection of the texts, as a family of the target alone or of the first page
--   exact: of how many nothing was sampled, so that the difference is exact
SELECT
    target, count(*) AS comparisons, count(p) AS tested,
    count(*) FILTER (verdict IN ('higher', 'lower') AND robust_in_all) AS told,
    count(*) FILTER (reason = 'no sampling') AS exact
FROM compared_sides
WHERE measure = 'entities'
GROUP BY target
ORDER BY target DESC;
