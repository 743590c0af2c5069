-- unmatched: a row is an ask of whose candidates none lies in one of its scopes, with its lookup.
CREATE OR REPLACE TABLE unmatched AS
SELECT ask.ask, lookup.lookup, ask.language
FROM asks AS ask
JOIN lookups AS lookup USING (language, surface)
ANTI JOIN (
    SELECT DISTINCT found.ask
    FROM found JOIN ask_scopes USING (ask) JOIN members USING (scope, item)
) AS matched ON matched.ask = ask.ask;
