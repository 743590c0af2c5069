-- chosen: add the candidates of one size that are frequent enough at places without a longer chosen one.
INSERT INTO chosen
SELECT candidate, $size, count(*)
FROM occurrences
ANTI JOIN taken USING (hit)
JOIN candidates USING (candidate)
WHERE occurrences.size = $size
GROUP BY candidate
HAVING count(*) >= $min_count
   AND count(DISTINCT occurrences.document) >= $min_documents
   AND count(*) >= $min_share * any_value(candidates.count);
