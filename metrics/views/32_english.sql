-- english_contributions: a row is a response of a cell that names a linked item: the items to which the English name that the
-- extractor gives leads alone (`numerator`), of all that it names: no name of the item in the language asked for matched. Where
-- the share differs between languages, so does what the numbers owe to the extractor's English.
CREATE VIEW english_contributions AS
SELECT cell, response, count(*) FILTER (only_english) AS numerator, count(*) AS denominator
FROM named_items
GROUP BY ALL;
