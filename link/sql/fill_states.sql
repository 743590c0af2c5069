-- A row is a state, of today or before, that any item is of, and that is not held.
SELECT DISTINCT target FROM draft.claims WHERE target IN (SELECT item FROM states) AND target NOT IN (SELECT item FROM draft.items)
