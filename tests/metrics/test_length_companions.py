"""What is named by the length of texts: sentences as ICU counts them, and ratios counted by hand and by simulation."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest
from icu4py.breakers import SentenceBreaker

from polyculture.cache.catalog import read_catalog
from polyculture.cache.sql_file import read_sql
from polyculture.cache.store import open_store
from polyculture.extract.gold import GOLD, read_gold
from polyculture.running.layout import store_layout
from tests.store_builder import StoreBuilder

VIEWS = Path(__file__).parents[2] / "metrics" / "views"
# Three sentences each, in all languages that set marks; with decimals, abbreviations, quotations, lists and headings.
TEXTS = {
    "ar": "أحب السوشي كثيرا. هل هذا صحيح؟ نعم، إنه لذيذ!",
    "de": "Brot kostet 3.5 Euro. „Wirklich?“ Ja, z.B. hier.",
    "en": "It costs 3.5 dollars. “Really?” See e.g. the menu.",
    "es": "¿De verdad? Cuesta 3.5 euros. ¡Me gusta!",
    "fa": "من سوشی دوست دارم. آیا راست است؟ بله!",
    "hi": "मुझे सुशी पसंद है। क्या सच में? यह स्वादिष्ट है!",
    "it": "Mi piace il sushi. Davvero? Sì!",
    "ja": "寿司が好きです。「本当？」と彼は言った。すごい！",
    "ko": "나는 초밥을 좋아한다. 정말요? 네, 맛있어요.",
    "tr": "Suşi severim. Gerçekten mi? Evet!",
    "zh": "我喜欢寿司。真的吗？是的！",
    "zh-tw": "我喜歡壽司。真的嗎？是的！",
}


@pytest.fixture(scope="module")
def macros() -> duckdb.DuckDBPyConnection:
    """The macros of the view, in a database of their own."""
    connection = duckdb.connect()
    companions, own = read_sql(VIEWS, "45_companions"), read_sql(VIEWS, "48_length_companions")
    for text in (companions, own):
        for statement in text.split(";\n"):
            if "CREATE MACRO expected_in" in statement or ("CREATE MACRO" in statement and text is own):
                connection.execute(statement)
    return connection


def counted(macros: duckdb.DuckDBPyConnection, text: str, language: str) -> int | None:
    [(found,)] = macros.execute(
        "SELECT sentence_count($text, $language)", {"text": text, "language": language}
    ).fetchall()
    return None if found is None else int(found)


def by_icu(text: str, language: str) -> int:
    return sum(any(letter.isalpha() for letter in part) for part in SentenceBreaker(text, language))


@pytest.mark.parametrize("language", TEXTS)
def test_sentences_of_each_language(macros: duckdb.DuckDBPyConnection, language: str) -> None:
    found = counted(macros, TEXTS[language], language)
    assert found == (4 if language == "ja" else 3)  # ICU ends one after the closing quotation mark
    assert found == by_icu(TEXTS[language], language)


def test_as_many_sentences_as_icu_in_the_gold_texts(macros: duckdb.DuckDBPyConnection) -> None:
    texts = read_gold(read_catalog(), GOLD)
    pairs = [(counted(macros, text.text, text.language), by_icu(text.text, text.language)) for text in texts]
    assert len(pairs) > 250
    assert sum(one == other for one, other in pairs) >= 0.98 * len(pairs)
    ours, theirs = (sum(one or 0 for one in side) for side in zip(*pairs, strict=True))
    assert ours == pytest.approx(theirs, rel=0.005)


def test_lists_headings_and_nothing(macros: duckdb.DuckDBPyConnection) -> None:
    assert counted(macros, "# Dishes\n\n1. **Sushi.** Rice.\n2. Ramen\n* Udon\n\n---\n", "en") == 5
    assert counted(macros, "", "en") == 0
    assert counted(macros, " \n 12. 13! ?\n", "en") == 0
    assert counted(macros, "ฉันชอบซูชิ", "th") is None
    assert counted(macros, "a" * 100_000 + ". B", "en") in (1, 2)


def test_items_in_a_hundred_mentions(macros: duckdb.DuckDBPyConnection) -> None:
    query = "SELECT expected_items(100, $mentions, $counts)"
    [(all_of_them,)] = macros.execute(query, {"mentions": 100, "counts": [60, 39, 1]}).fetchall()
    assert all_of_them == pytest.approx(3)
    [(too_few,)] = macros.execute(query, {"mentions": 99, "counts": [60, 39]}).fetchall()
    assert too_few is None
    [(half,)] = macros.execute(query, {"mentions": 200, "counts": [1] * 200}).fetchall()
    assert half == pytest.approx(100)


def test_the_view(tmp_path: Path) -> None:
    built = StoreBuilder(tmp_path, n=40)
    english, thai, failed = (built.ask(language, country="JP") for language in ("en", "th", "de"))
    for number in range(40):
        text = "Sushi is good. So is ramen." if number % 2 else "Sushi."
        named = ["sushi", "ramen", "a thing"] if number % 2 else ["sushi"]
        built.answer(english, named, text=text, sample=number)
        built.answer(thai, ["sushi"], text="ซูชิ", sample=number)
    built.answer(failed, [], text="Brot.", extraction="failed")
    built.link("sushi", "Q1")
    built.link("ramen", "Q2")
    built.link("a thing")
    built.entity("Q1")
    with open_store(built.write(), store_layout()) as store:
        columns = (
            "language, entities_per_100_mentions, items_per_100_mentions, mentions_per_sentence, entities_per_sentence"
        )
        rows = {row[0]: row[1:] for row in store.sql(f"SELECT {columns} FROM length_companions").fetchall()}
        [(low, high)] = store.sql(
            "SELECT entities_per_sentence_low, entities_per_sentence_high FROM length_companions WHERE language = 'en'"
        ).fetchall()
        reasons = dict(store.sql("SELECT language, no_sentences FROM length_companions").fetchall())
        sizes = dict(store.sql("SELECT language, sentences FROM length_companions").fetchall())
    assert rows["en"] == (75.0, None, pytest.approx(80 / 60), 1.0)
    assert low < 1 < high or low == high == 1  # every sentence names one item
    assert rows["th"] == (100.0, None, None, None)
    assert rows["de"] == (None,) * 4
    assert reasons == {"en": None, "th": "no sentence marks", "de": None}
    assert sizes == {"en": 60, "th": None, "de": None}


@pytest.mark.parametrize("responses", [20, 100])
def test_intervals_of_ratios_hold(macros: duckdb.DuckDBPyConnection, responses: int) -> None:
    """Texts of 1 to 12 sentences, of which some name more than others: 600 data sets."""
    random = np.random.default_rng(responses)
    covered = 0
    for _ in range(600):
        sentences = random.integers(1, 13, responses)
        named = random.poisson(sentences * random.gamma(4, 0.2, responses))
        ratio = named.sum() / sentences.sum()
        squares = float(((named - ratio * sentences) ** 2).sum())
        query = "SELECT half_width($n, $squares, $below)"
        given = {"n": responses, "squares": squares, "below": float(sentences.sum())}
        [(half,)] = macros.execute(query, given).fetchall()
        covered += abs(ratio - 0.8) <= half
    assert covered >= 600 * 0.925
