-- missed: a row is an ask without any candidate, by one of its normal forms, with the scope of its kind.
CREATE TABLE missed AS
SELECT ask.ask, ask.heading, heading.language, own.scope, keys.fold, keys.key
FROM asks AS ask
JOIN headings AS heading USING (heading)
JOIN heading_scopes AS own ON own.heading = ask.heading AND own.own
JOIN keys USING (lookup)
ANTI JOIN found ON found.ask = ask.ask
WHERE length(keys.key) >= $shortest;
