-- taken: add the places of the candidates chosen last.
INSERT INTO taken
SELECT occurrences.hit, occurrences.candidate
FROM occurrences
SEMI JOIN (FROM chosen WHERE size = $size) AS chosen USING (candidate)
ANTI JOIN taken USING (hit);
