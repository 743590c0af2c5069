-- A row is a culture in one direction: the mean over the other cultures of the share of F. 'leans on others': of what is
-- particular to it, what another shares; 'others lean on it': of what is particular to another, what it shares. Shares, as
-- F grows with the number of items.
SELECT model, dataset, language, filter, 'leans on others' AS direction, culture, avg(share) AS flattening
FROM probe_flattening
WHERE arm = 'patched' AND key = 'string' AND share IS NOT NULL
GROUP BY ALL
UNION ALL
SELECT model, dataset, language, filter, 'others lean on it' AS direction, toward AS culture, avg(share) AS flattening
FROM probe_flattening
WHERE arm = 'patched' AND key = 'string' AND share IS NOT NULL
GROUP BY ALL
ORDER BY ALL
