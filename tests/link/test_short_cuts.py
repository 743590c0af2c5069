"""Each optimisation of linking gives the results of the full computation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from random import Random

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from polyculture.cache.catalog import read_catalog
from polyculture.cache.inflection import inflections
from polyculture.link.cheap_patterns import RequiredText, has_required_text, letters_of, required_text, with_letters
from polyculture.link.fuzzy import letter_sets
from polyculture.link.normalise import normalise, normalise_array
from polyculture.link.statements import statement
from polyculture.link.within import carriers_of, edge_patterns, edge_texts

LETTERS = (
    "abcdefghijklmnopqrstuvwxyz éüöäñçğışæœøł ال كشري خوب समोसा क़ँं ラーメンバらめん 김치찌개 ต้มยำ 拉麵面 0123 -'!.&"
)
EXAMPLES = settings(deadline=None)
TEXTS = st.text(st.sampled_from(LETTERS), min_size=1, max_size=24)


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        opened.execute(statement("loose"))
        yield opened


@EXAMPLES
@given(texts=st.lists(TEXTS, min_size=1, max_size=40))
def test_a_name_is_spelled_loosely_as_if_every_step_were_taken(
    connection: duckdb.DuckDBPyConnection, texts: list[str]
) -> None:
    keys = normalise(texts, "plain")
    query = f"SELECT loose(key), {EVERY_STEP} FROM (SELECT unnest($keys) AS key)"
    rows = connection.execute(query, {"keys": keys, "katakana": KATAKANA, "hiragana": HIRAGANA}).fetchall()
    assert [short for short, _ in rows] == [long for _, long in rows]


KATAKANA = "".join(map(chr, range(ord("ァ"), ord("ヴ") + 1)))
HIRAGANA = "".join(map(chr, range(ord("ぁ"), ord("ゔ") + 1))).translate(str.maketrans("ぁぃぅぇぉゔ", "あいうえおぶ"))
# All steps one after the other, whether a key has such letters or not. Only accents are asked for: of other scripts'
# letters they are a part.
EVERY_STEP = r"""
    regexp_replace(toneless(translate(
        regexp_replace(translate(unaccented(key), chr(2305) || chr(2364), chr(2306)), '(^| )ال(\p{L}{2})', '\1\2', 'g'),
        $katakana, $hiragana
    )), '[^\p{L}\p{M}\p{N}]+|ー$', '', 'g')
"""


ENDINGS = [
    (pattern, other)
    for rules in inflections().values()
    for pattern, other in rules.get("after", [])
    if pattern.startswith("(") and pattern.endswith("$")
]
STEMS = st.sampled_from(["taco", "curri", "börek", "समोस", "سمبوس", "arancin", "kova", "a", "x y", ""])


@EXAMPLES
@given(rule=st.sampled_from(ENDINGS), texts=st.lists(st.tuples(STEMS, TEXTS), min_size=1, max_size=30))
def test_an_ending_sought_from_the_end_is_the_one_found_from_the_beginning(
    connection: duckdb.DuckDBPyConnection, rule: tuple[str, str], texts: list[tuple[str, str]]
) -> None:
    pattern, other = rule
    letters = re.sub(r"[^\w]", "", pattern.rpartition(")")[2])
    keys = [key for stem, text in texts for key in normalise([text, f"{stem}{letters}", f"{text}{letters}"], "plain")]
    query = "SELECT regexp_replace(key, $pattern, $other, 'g') FROM (SELECT unnest($keys) AS key)"
    short, long = (
        connection.execute(query, {"keys": keys, "pattern": way, "other": other}).fetchall()
        for way in (pattern, f"^(.*{pattern[1:]}")
    )
    assert short == long


def test_there_are_rules_for_endings() -> None:
    assert len(ENDINGS) > 40


@EXAMPLES
@given(texts=st.lists(TEXTS, min_size=1, max_size=40), fold=st.sampled_from(["plain", "turkish", "chinese"]))
def test_many_names_are_folded_as_one_by_one(texts: list[str], fold: str) -> None:
    folded = normalise_array(pa.array(texts, pa.string()), fold)  # type: ignore[arg-type]
    assert folded.to_pylist() == [normalise([text], fold)[0] for text in texts]  # type: ignore[arg-type]


NEAR = st.tuples(TEXTS, st.lists(st.tuples(st.integers(0, 23), st.sampled_from(LETTERS), st.booleans()), max_size=4))


def _typo(text: str, typos: list[tuple[int, str, bool]]) -> str:
    for at, letter, instead in typos:
        text = text[:at] + letter + text[at + instead :]
    return text


@EXAMPLES
@given(pair=NEAR, threshold=st.sampled_from([75.0, 85.0, 90.0, 95.0]))
def test_no_pair_that_is_alike_enough_is_sifted_out(
    pair: tuple[str, list[tuple[int, str, bool]]], threshold: float
) -> None:
    key, name = pair[0], _typo(*pair)
    if fuzz.ratio(key, name) >= threshold:
        some, others = letter_sets(pa.array([key, name])).to_pylist()
        least = max((some ^ others).bit_count(), abs(len(key) - len(name)))
        assert least <= (1 - threshold / 100 + 1e-9) * (len(key) + len(name))


def test_the_sets_of_letters_are_each_texts_own() -> None:
    sets = letter_sets(pa.array(["abba", "ab", "c", "ab麵"])).to_pylist()
    assert sets[0] == sets[1] != sets[2]
    assert sets[3] & sets[0] == sets[0]
    assert letter_sets(pa.array([], pa.string())).to_pylist() == []


RULES = [
    tuple(rule)
    for own in inflections().values()
    for rule in [*own.get("before", []), *own.get("after", []), *own.get("cases", [])]
]


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        (r"(a(b(c|d)e)|la)$", None),  # a choice in a group in a group
        (r"a|b$", None),
        (r"([ab])c(?:d|e(f|g))h$", ("h",)),
        (r"(?:ab)?c$", ("c",)),
        (r"[(|]x$", ("(x", "|x")),
        (r"\(x\|y\)z$", ("z",)),
        (r"(\S+)(?:lar|ler)$", ("lar", "ler")),
    ],
)
def test_a_choice_requires_none_of_its_sides(pattern: str, texts: tuple[str, ...] | None) -> None:
    required = required_text(pattern)
    assert (required.texts if required else None) == texts


@EXAMPLES
@given(rule=st.sampled_from(RULES), stem=STEMS, texts=st.lists(TEXTS, min_size=1, max_size=30), end=st.booleans())
def test_a_rule_changes_no_text_that_lacks_what_it_requires(
    connection: duckdb.DuckDBPyConnection, rule: tuple[str, str], stem: str, texts: list[str], end: bool
) -> None:
    pattern, other = rule
    required = required_text(pattern)
    parts = required.texts if required else ("",)
    keys = [
        key
        for text in texts
        for part in parts
        for key in (text, f"{text}{part[1:]}", f"{stem}{part[:-1]}", f"{stem} {part} x" if end else part + text)
    ]
    lacking = [key for key in keys if not has_required_text(pattern, [key])]
    query = "SELECT regexp_replace(key, $pattern, $other, 'g') FROM (SELECT unnest($keys::VARCHAR[]) AS key)"
    changed = connection.execute(query, {"keys": lacking, "pattern": pattern, "other": other}).fetchall()
    assert [key for (key,) in changed] == lacking


@EXAMPLES
@given(rule=st.sampled_from(RULES), texts=st.lists(st.tuples(STEMS, TEXTS), min_size=1, max_size=30))
def test_a_pattern_of_the_letters_at_hand_matches_the_same(
    connection: duckdb.DuckDBPyConnection, rule: tuple[str, str], texts: list[tuple[str, str]]
) -> None:
    pattern, other = rule
    required = required_text(pattern)
    keys = [f"{stem}{text}{part}" for stem, text in texts for part in (required.texts if required else ("", "s"))]
    query = "SELECT regexp_replace(key, $pattern, $other, 'g') FROM (SELECT unnest($keys) AS key)"
    short, long = (
        connection.execute(query, {"keys": keys, "pattern": way, "other": other}).fetchall()
        for way in (with_letters(pattern, letters_of(keys)), pattern)
    )
    assert short == long


def test_what_a_pattern_requires_is_told_from_its_literal_text() -> None:
    assert required_text(r"(\p{L}{2})ies$") == RequiredText(("ies",), last=True)
    assert required_text(r"(\p{L}{3})l[ae]r$") == RequiredText(("lar", "ler"), last=True)
    assert required_text(r"^(.+) (?:책|소설)$") == RequiredText((" 소설", " 책"), last=True)
    assert required_text(r"^(\p{L}{3,})i( .+)$") == RequiredText(("i ",), last=False)
    assert required_text(r"^(?:un|(?:a|da)?ll?)(.{3,})$") is None
    assert required_text(r"^[お御](\p{Han}|.{2,})$") == RequiredText(("お", "御"), last=False)
    assert sum(required_text(pattern) is not None for pattern, _ in RULES) > 0.9 * len(RULES)


def test_letters_are_those_of_the_pattern_language(connection: duckdb.DuckDBPyConnection) -> None:
    """A letter of Python's tables is one of RE2's; what Python does not know yet is not told."""
    every = [chr(code) for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000]
    known = [character for character in every if unicodedata.category(character) != "Cn"]
    query = r"SELECT string_agg(c, '' ORDER BY c) FROM (SELECT unnest($known) AS c) WHERE regexp_matches(c, '^\p{L}$')"
    ((letters,),) = connection.execute(query, {"known": known}).fetchall()
    assert letters_of(known) == letters
    assert letters_of(["a\u0378"]) is None


CARRIED = [(language, own) for language in read_catalog().languages.values() if (own := carriers_of(language))]


@EXAMPLES
@given(place=st.sampled_from(range(len(CARRIED))), texts=st.lists(TEXTS, min_size=1, max_size=20), at=st.randoms())
def test_a_carrier_word_at_an_edge_is_found_as_by_the_patterns(
    connection: duckdb.DuckDBPyConnection, place: int, texts: list[str], at: Random
) -> None:
    language, own = CARRIED[place]
    beginnings, endings = edge_texts(language, own)
    keys = [key for text in texts for key in (text, at.choice(beginnings) + text, text + at.choice(endings))]
    keys += [key[1:-1] for key in keys if len(key) > 2]
    query = "SELECT regexp_matches(key, $first) OR regexp_matches(key, $last) FROM (SELECT unnest($keys) AS key)"
    by_pattern = connection.execute(query, {"keys": keys, **edge_patterns(language, own)}).fetchall()
    assert [key.startswith(beginnings) or key.endswith(endings) for key in keys] == [found for (found,) in by_pattern]


def test_languages_have_carrier_words() -> None:
    assert len(CARRIED) > 10
