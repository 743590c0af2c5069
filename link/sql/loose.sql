-- The normal form of a name made looser still: for other spellings of a name, once the name itself is not found.

-- loose: a normal form without what people leave out or put in: accents on Latin letters, dots under Devanagari ones,
-- the Arabic article, the difference between hiragana and katakana, a last long vowel, punctuation and spaces.
CREATE MACRO unaccented(key) AS
    CASE WHEN regexp_matches(key, '[À-ɏḀ-ỿ]')
        THEN replace(replace(translate(strip_accents(key), 'ıøđðłħŧ', 'ioddlht'), 'æ', 'ae'), 'œ', 'oe')
        ELSE key
    END;
CREATE MACRO one_kana(key) AS
    CASE WHEN regexp_matches(key, '\p{Katakana}') THEN translate(
        key,
        'ァアィイゥウェエォオカガキギクグケゲコゴサザシジスズセゼソゾタダチヂッツヅテデトドナニヌネノハバパヒビピフブプヘベペホボポマミムメモャヤュユョヨラリルレロヮワヰヱヲンヴ',
        'ぁあぃいぅうぇえぉおかがきぎくぐけげこごさざしじすずせぜそぞただちぢっつづてでとどなにぬねのはばぱひびぴふぶぷへべぺほぼぽまみむめもゃやゅゆょよらりるれろゎわゐゑをんゔ'
    ) ELSE key END;
CREATE MACRO no_al(key) AS
    CASE WHEN contains(key, 'ال') THEN regexp_replace(key, '(^| )ال(\p{L}{2})', '\1\2', 'g') ELSE key END;
CREATE MACRO loose(key) AS CASE
    WHEN regexp_full_match(key, '[a-z0-9 ]*') THEN replace(key, ' ', '')
    ELSE regexp_replace(
        one_kana(no_al(translate(unaccented(key), chr(2305) || chr(2364), chr(2306)))), '[^\p{L}\p{M}\p{N}]+|ー$', '', 'g'
    )
END;
