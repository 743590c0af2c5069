"""Each optimisation of linking gives the results of the full computation."""

from __future__ import annotations

import re
from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from polyculture.link.fuzzy import letter_sets
from polyculture.link.normalise import normalise, normalise_array
from polyculture.link.statements import statement
from polyculture.link.variants import inflections

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
