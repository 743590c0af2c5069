-- What extraction lost
-- extraction_losses: a row is a model and a language; what was lost on the way from a model's answers to the mentions.
--   named_or_dropped: mentions of counted kinds that the answers list, and those that were dropped for their kind
SELECT *, listed + unknown_kinds AS named_or_dropped
FROM extraction_losses
ORDER BY model, language;
