-- The tables of names within mentions.

-- sorts: a row is a topic with a sort of carrier words that its names have around them: things, wear, works, groups, genres.
CREATE TABLE sorts (topic VARCHAR, sort VARCHAR);

-- inner_names: a row is a part of a spelling that may be a name, with what stands around it; known for these sorts.
CREATE TABLE inner_names (spelling UINTEGER, language VARCHAR, key VARCHAR, before VARCHAR, after VARCHAR, sorts VARCHAR[]);

-- carrier_languages: a row is a language with carrier words. `spaced`: spaces set words apart. `head_last`: the last word of a
-- name says what the thing is.
CREATE TABLE carrier_languages (language VARCHAR, spaced BOOLEAN, head_last BOOLEAN);

-- carrier_edges: a row is the up to three letters with which a text that begins ('first') or ends ('last') with a carrier
-- word begins or ends.
CREATE TABLE carrier_edges (language VARCHAR, side VARCHAR, letters VARCHAR);

-- inner_parts: a row is a name of a topic within a spelling that led nowhere, with what stands around it, and for which sorts
-- each side consists of carrier words alone. `creator_before`, `creator_after`: a side without the words that join a creator
-- to a title. `apart`: a comma, colon or dash stands before the name.
CREATE TABLE inner_parts (
    language VARCHAR, whole VARCHAR, spaced BOOLEAN, head_last BOOLEAN, key VARCHAR, before VARCHAR, after VARCHAR,
    sorts_before VARCHAR[], sorts_after VARCHAR[], creator_before VARCHAR, creator_after VARCHAR, apart BOOLEAN
);

-- boundaries: the places in a text where a name may begin or end, as numbers of letters before them: without $spaced any
-- place that is not before a combining mark.
CREATE MACRO boundaries(text, spaced) AS CASE
    WHEN spaced THEN list_filter(range(0, length(text) + 1), lambda place: place IN (0, length(text)) OR text[place + 1] = ' ')
    ELSE list_filter(range(0, length(text) + 1), lambda place: NOT regexp_matches(text[place + 1], '^\p{M}'))
END;

-- known_sorts: the sorts for which a text consists of carrier words alone; all for the empty one.
CREATE MACRO known_sorts(text, things, wear, works, groups, genres) AS CASE
    WHEN text = '' THEN ['things', 'wear', 'works', 'groups', 'genres']
    ELSE list_filter([
        CASE WHEN regexp_full_match(text, things) THEN 'things' END,
        CASE WHEN regexp_full_match(text, wear) THEN 'wear' END,
        CASE WHEN regexp_full_match(text, works) THEN 'works' END,
        CASE WHEN regexp_full_match(text, groups) THEN 'groups' END,
        CASE WHEN regexp_full_match(text, genres) THEN 'genres' END
    ], lambda sort: sort IS NOT NULL)
END;
