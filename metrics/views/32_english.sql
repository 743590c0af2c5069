-- english_contributions: a row is a response of a cell that names a linked item: the items that are found by an English name alone
-- (`numerator`), of all that it names. No name of such an item in the language of the mention matched, whichever column of the
-- extractor had the English one. Where the share differs between languages, so does what the numbers owe to the extractor's English.
CREATE VIEW english_contributions AS
SELECT cell, response, count(*) FILTER (only_english) AS numerator, count(*) AS denominator
FROM named_items
GROUP BY ALL;
