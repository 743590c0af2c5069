-- forms: what was turned.
INSERT INTO forms SELECT lookup, $language, fold, min(turns), key FROM turning WHERE turns > 0 GROUP BY lookup, fold, key
