-- bearers: a row is a name of an item of `near`, and another item of which it is a label.
CREATE TABLE bearers AS
SELECT near.item AS candidate, name.language, name.name, other.item, bool_or(other.name = name.name) AS same_letters
FROM near
JOIN wikidata.names AS name ON name.item = near.item
JOIN wikidata.names AS other
    ON other.language = name.language AND other.normalised = name.normalised AND other.item <> name.item
    AND other.kind = 'label'
GROUP BY ALL;

-- beside: a row is a candidate and an item of the same topic.
CREATE TABLE beside AS
SELECT DISTINCT bearers.candidate, bearers.item
FROM bearers
JOIN belongs AS own ON own.item = bearers.candidate
JOIN belongs AS other ON other.item = bearers.item AND other.topic = own.topic;

-- names_of_others: a row is a name of an item of `near` that in a text means something else: an item outside its topics has it as a label and
-- no fewer sitelinks, as far as both are known. Of titles and persons letter case tells nothing, for a sentence begins with a capital letter: the band
-- Bread is left alone because of bread, but not cream because of the band. Besides, `ordinary_words`
-- (link/select/ordinary.toml) mean something else.
CREATE TABLE names_of_others AS
SELECT DISTINCT bearers.candidate AS item, bearers.language, bearers.name
FROM bearers
ANTI JOIN beside USING (candidate, item)
JOIN (SELECT item, bool_and(of_single_things) AS proper FROM belongs GROUP BY item) AS own ON own.item = bearers.candidate
JOIN fame ON fame.item = bearers.candidate
LEFT JOIN wikidata.items AS item ON item.item = bearers.item
WHERE coalesce(item.sitelinks >= fame.sitelinks, true) AND (own.proper OR bearers.same_letters)
UNION
SELECT near.item, name.language, name.name
FROM near
JOIN wikidata.names AS name USING (item)
SEMI JOIN ordinary_words USING (language, normalised);

-- entities: a row is an item of `near` whose other names are in enough languages.
CREATE TABLE entities AS
SELECT near.item
FROM near
JOIN wikidata.names AS name USING (item)
SEMI JOIN starter_languages USING (language)
ANTI JOIN names_of_others USING (item, language, name)
GROUP BY near.item
HAVING count(DISTINCT name.language) >= (SELECT languages FROM starter_rules);
