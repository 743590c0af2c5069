-- found: drop items whose names differ from the mention in more than capital letters.
DELETE FROM found WHERE grade IN (2, 5);
