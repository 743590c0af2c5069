-- found: without what the service found for other asks alone. What a mention means does not depend on what else is linked.
DELETE FROM found
WHERE (ask, item) NOT IN (
    SELECT asks.ask, heard.item FROM asks JOIN heard USING (lookup)
    UNION ALL
    SELECT asks.ask, heard.item FROM asks JOIN turned ON turned.own = asks.lookup JOIN heard ON heard.lookup = turned.lookup
);
