-- The kinds of match by strength: as the tables name them, and in words.
CREATE MACRO match_name(strength) AS
    (['label', 'alias', 'normalised', 'english', 'english', 'english', 'fuzzy'])[strength + 1];
CREATE MACRO match_words(strength) AS (
    [
        'a label', 'an alias', 'a name after normalisation', 'an English label', 'an English alias',
        'an English name after normalisation', 'a fuzzy match'
    ]
)[strength + 1];
