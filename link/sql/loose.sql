-- A looser normal form, for spelling variants of names without an exact match.

-- loose: the normal form without what writers often omit or add: accents on Latin letters, dots under Devanagari ones, the
-- Arabic article, Thai tone marks, the differences between hiragana and katakana, small and large vowels in foreign words
-- (ウィ, ウイ), v and b (ヴァ, バ), a final long vowel, punctuation and spaces.
-- A cheap test precedes each step, since most names need none. A macro copies its argument to every place of its name: the list
-- of one element has the steps before it once.
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
-- Thai: a tone mark before or after the nasal sign is one (น้ำ, นํ้า). Tones that only loanwords need, and short vowels' signs, are
-- optional in all longer words; the other two and silent letters in long words, and in those with a sign of a loanword. In
-- native words a tone makes another word: ไข่ข้าว, ไข่ขาว.
CREATE MACRO one_nasal(key) AS regexp_replace(key, 'ํ([่-๋])', '\1ํ', 'g');
CREATE MACRO borrowed(key) AS length(replace(key, ' ', '')) > 8
    OR regexp_matches(key, '[ก-ฮ][ิุ]?์|[็๊๋]|กก|คค|ซซ|ดด|ตต|นน|บบ|ปป|พพ|ฟฟ|มม|ลล|สส');
CREATE MACRO toneless(key) AS CASE
    WHEN length(replace(key, ' ', '')) <= 5 THEN one_nasal(key)
    WHEN borrowed(key) THEN regexp_replace(one_nasal(key), '[ก-ฮ][ิุ]?์|[็-๋]', '', 'g')
    ELSE one_nasal(key)
END;
CREATE MACRO loose(key) AS CASE
    WHEN regexp_full_match(key, '[a-z0-9 ]*') THEN replace(key, ' ', '')
    ELSE regexp_replace(
        CASE
            WHEN regexp_matches(key, '[À-ɏḀ-ỿ\p{Katakana}\p{Arabic}\p{Devanagari}\p{Thai}]')
                THEN list_transform([one_kana(key)], lambda kana: toneless(kana))[1]
            ELSE key
        END,
        '[^\p{L}\p{M}\p{N}]+|ー$', '', 'g'
    )
END;

-- loose_hash: a number for a loose form; equal forms have equal numbers.
CREATE MACRO loose_hash(loose) AS (hash(loose) >> 32)::UINTEGER;

-- ends_in_one_letter: is the last word a single Latin letter?
CREATE MACRO ends_in_one_letter(key) AS regexp_matches(key, '[^\p{L}\p{M}\p{N}]\p{Latin}$');

-- katakana: hiragana converted to katakana.
CREATE MACRO katakana(text) AS list_aggregate(
    list_transform(string_split(text, ''), lambda letter:
        CASE WHEN letter BETWEEN 'ぁ' AND 'ゖ' THEN chr(unicode(letter) + 96) ELSE letter END),
    'string_agg', ''
);
