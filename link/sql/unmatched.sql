-- unmatched: a row is an ask that no name in its own languages leads to an item of its scopes; `english`: an English name
-- does.
CREATE OR REPLACE TABLE unmatched AS
WITH matched AS (
    SELECT found.ask, min(found.strength) >= 4 AS english
    FROM found
    JOIN heading_scopes USING (heading)
    SEMI JOIN members USING (scope, item)
    GROUP BY found.ask
)
SELECT ask.ask, ask.heading, ask.lookup, heading.language, matched.ask IS NOT NULL AS english
FROM asks AS ask
JOIN headings AS heading USING (heading)
LEFT JOIN matched ON matched.ask = ask.ask
WHERE matched.ask IS NULL OR matched.english;
