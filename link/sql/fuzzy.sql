-- What fuzzy matching needs besides.

-- anchors: what a surface and a name have in common that are compared: the first letters, or the first letter and the last
-- ones. One slip leaves one of the two whole.
CREATE MACRO anchors(key) AS CASE
    WHEN regexp_matches(key[1], '[\p{Han}\p{Hangul}\p{Hiragana}\p{Katakana}]') THEN [key[:2], key[1] || '…' || key[-2:]]
    ELSE [key[:3], key[1] || '…' || key[-3:]]
END;

-- numbers: what must be the same in a surface and a name: numbers, and what tells a father from a son.
CREATE MACRO numbers(key) AS regexp_extract_all(key, '[0-9]+|\b(?:jr|sr|ii|iii|iv|vi|vii|viii|ix)\b');

-- alike: a row is a name that is nearly what was asked for.
CREATE TABLE alike (ask UINTEGER, key VARCHAR, score DOUBLE);
