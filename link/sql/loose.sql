-- The normal form of a name made looser still: for other spellings of a name, once the name itself is not found.

-- loose: a normal form without what people leave out or put in: accents on Latin letters, dots under Devanagari ones,
-- the Arabic article, Thai tone marks, the difference between hiragana and katakana, of small and large vowels in foreign words (ウィ, ウイ), of
-- v and b (ヴァ, バ), a last long vowel, punctuation and spaces.
-- Each step is taken only where the normal form itself asks for it, and most ask for none.
CREATE MACRO unaccented(key) AS
    CASE WHEN regexp_matches(key, '[À-ɏḀ-ỿ]')
        THEN replace(replace(translate(strip_accents(key), 'ıøđðłħŧ', 'ioddlht'), 'æ', 'ae'), 'œ', 'oe')
        ELSE key
    END;
CREATE MACRO undotted(key) AS replace(replace(unaccented(key), chr(2305), chr(2306)), chr(2364), '');
CREATE MACRO no_al(key) AS CASE
    WHEN contains(key, 'ال') THEN regexp_replace(undotted(key), '(^| )ال(\p{L}{2})', '\1\2', 'g')
    ELSE undotted(key)
END;
CREATE MACRO one_kana(key) AS CASE
    WHEN regexp_matches(key, '\p{Katakana}') THEN translate(
        replace(replace(replace(replace(no_al(key), 'ヴァ', 'バ'), 'ヴィ', 'ビ'), 'ヴェ', 'ベ'), 'ヴォ', 'ボ'),
        'ァアィイゥウェエォオカガキギクグケゲコゴサザシジスズセゼソゾタダチヂッツヅテデトドナニヌネノハバパヒビピフブプヘベペホボポマミムメモャヤュユョヨラリルレロヮワヰヱヲンヴ',
        'ああいいううええおおかがきぎくぐけげこごさざしじすずせぜそぞただちぢっつづてでとどなにぬねのはばぱひびぴふぶぷへべぺほぼぽまみむめもゃやゅゆょよらりるれろゎわゐゑをんぶ'
    )
    ELSE no_al(key)
END;
-- In longer words, mostly borrowed ones, Thai tone marks and silent letters are written or not.
CREATE MACRO toneless(key) AS
    CASE WHEN length(key) > 5 THEN regexp_replace(key, '[ก-ฮ][ิุ]?์|[็-๋]', '', 'g') ELSE key END;
CREATE MACRO loose(key) AS CASE
    WHEN regexp_full_match(key, '[a-z0-9 ]*') THEN replace(key, ' ', '')
    WHEN regexp_matches(key, '[À-ɏḀ-ỿ\p{Katakana}\p{Arabic}\p{Devanagari}\p{Thai}]')
        THEN regexp_replace(toneless(one_kana(key)), '[^\p{L}\p{M}\p{N}]+|ー$', '', 'g')
    ELSE regexp_replace(key, '[^\p{L}\p{M}\p{N}]+|ー$', '', 'g')
END;

-- one_letter: is the last word a Latin letter?
CREATE MACRO one_letter(key) AS regexp_matches(key, '[^\p{L}\p{M}\p{N}]\p{Latin}$');

-- katakana: hiragana as katakana, letter by letter.
CREATE MACRO katakana(text) AS list_aggregate(
    list_transform(string_split(text, ''), lambda letter:
        CASE WHEN letter BETWEEN 'ぁ' AND 'ゖ' THEN chr(unicode(letter) + 96) ELSE letter END),
    'string_agg', ''
);
