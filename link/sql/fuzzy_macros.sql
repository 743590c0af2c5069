-- The macros of fuzzy matching.

-- beginning, ending: blocking keys. A surface and a name are compared if they share the first letters, or the first letter
-- and the last ones. One typo leaves one of the two intact.
CREATE MACRO in_syllables(key) AS regexp_matches(key[1], '[\p{Han}\p{Hangul}\p{Hiragana}\p{Katakana}]');
CREATE MACRO beginning(key) AS key[:CASE WHEN in_syllables(key) THEN 2 ELSE 3 END];
CREATE MACRO ending(key) AS key[1] || key[-CASE WHEN in_syllables(key) THEN 2 ELSE 3 END:];

-- numbers: must be the same in a surface and a name: Arabic, Chinese and Roman numerals (also with the Turkish dotless i),
-- and generational suffixes (Jr, Sr).
CREATE MACRO numbers(key) AS regexp_extract_all(key, '[0-9]+|[一二三四五六七八九十百]+') || list_filter(
    string_split_regex(translate(key, 'ı', 'i'), '[^\p{L}\p{M}\p{N}]+'),
    lambda word: regexp_full_match(word, '[ivx]+|jr|sr')
);
