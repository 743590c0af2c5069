-- missed: a row is an ask without any candidate, by one of its normal forms and one of its anchors. A block is what asks
-- and names have in common that are compared: scope, language, folding rules and anchor.
CREATE TABLE missed AS
SELECT *, dense_rank() OVER (ORDER BY language, scope, fold, anchor) AS block
FROM (
    SELECT ask.ask, ask.language, own.scope, keys.fold, keys.key, unnest(anchors(keys.key)) AS anchor
    FROM asks AS ask
    JOIN ask_scopes AS own ON own.ask = ask.ask AND own.own
    JOIN lookups AS lookup USING (language, surface)
    JOIN keys USING (lookup)
    ANTI JOIN found ON found.ask = ask.ask
    WHERE length(keys.key) >= $shortest
);
