-- forms: what was turned.
INSERT INTO forms SELECT spelling, min(turns) AS turns, key FROM turning WHERE turns > 0 GROUP BY spelling, key
