-- unmatched: a row is an ask of whose candidates none lies in one of its scopes.
CREATE OR REPLACE TABLE unmatched AS
SELECT ask.ask, ask.heading, ask.lookup, heading.language
FROM asks AS ask
JOIN headings AS heading USING (heading)
ANTI JOIN (FROM found JOIN heading_scopes USING (heading) JOIN members USING (scope, item)) AS matched
    ON matched.ask = ask.ask;
