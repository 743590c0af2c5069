-- Match kinds by strength: the value in the tables, and a description.
CREATE MACRO match_name(strength) AS (
    ['label', 'alias', 'normalised', 'english', 'english', 'english', 'variant', 'inflected', 'within', 'within', 'fuzzy']
)[strength + 1];
CREATE MACRO match_words(strength) AS (
    [
        'a label', 'an alias', 'a name after normalisation', 'an English label', 'an English alias',
        'an English name after normalisation', 'another spelling', 'another form of the word', 'a name within the mention', 'a name within the mention', 'a fuzzy match'
    ]
)[strength + 1];
