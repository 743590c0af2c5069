"""Query expansion for a live service: further names to search for queries without an exact match in the topic.

An index compares normal forms of names and mentions. A service searches names as they are written. So each form of a
mention is written back in the mention's spelling, and letters or articles that only the name has are guessed. The items
found are then matched like an index's items: a wrong guess costs a request, never a wrong link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import duckdb
import pyarrow as pa
from rapidfuzz.distance import Levenshtein

from polyculture.cache.catalog import Catalog, Language
from polyculture.cache.inflection import inflection_of
from polyculture.link.normalise import marks
from polyculture.link.statements import statement
from polyculture.link.within import part_patterns

MOST = 32  # searches for a mention and round, besides the mention: what is beyond is counted in `unsearched`
MOST_LETTERS = 12  # of a mention without spaces between words, whose parts are searched
_GUESSED, _PARTED = 1, 2  # the costs of guesses: before names in other words, and after
_COLUMNS: list[tuple[str, pa.DataType]] = [
    ("own", pa.uint32()),
    ("language", pa.string()),
    ("surface", pa.string()),
    ("cost", pa.int64()),
]
_TEXTS_SCHEMA = pa.schema(_COLUMNS)
_LONGEST_WORD = 12  # letters of a word that is searched in two parts
# Words that may be two in a name, in a language or in all: a pattern, what stands between, the least letters of each.
_JOINTS = (
    ("", r"[가-힣]{2,}", " ", 1),
    ("", r"[ァ-ヺー]{4,}", "・", 2),
    ("zh", r"[一-鿿]{4,}", "·", 2),
    ("", r"(?<!\w)[A-Za-zÀ-ɏ]{6,}(?!\w)", " ", 3),
    ("fa", r"[ء-ی]{5,}", "\u200c", 2),
)
_TO_KATAKANA = {code: code + 96 for code in range(ord("ぁ"), ord("ゖ") + 1)}
_DOTS = {"ja": "・", "zh": "·", "fa": "\u200c"}  # between the words of a name, where a mention has blanks
# Letters that a normal form has for others at the end of an Arabic word.
_LETTERS: dict[str, dict[str, str]] = {"ar": {"ی": "يى", "ي": "ى", "ه": "ة", "ک": "ك"}}

Text: TypeAlias = tuple[int, str, str, int]  # lookup, language, text, cost: the cheapest are searched first


def create_expansions(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Adds to `lookups` the expansions of the queries in `unmatched`, made from the forms of `create_forms`."""
    rows = connection.sql(statement("expansion_sources")).fetchall()
    surfaces = {(lookup, language, surface) for lookup, language, surface, *_ in rows}
    guesses: Iterator[Text] = (
        (lookup, language, text, cost)
        for lookup, language, surface in surfaces
        for text, cost in _guesses(surface.strip(), catalog.language(language))
    )
    _insert(connection, [*_written(rows), *guesses], variants=True)
    long = [lookup for lookup, _, surface in surfaces if _has_long_word(surface)]
    _tell(connection, long, f"words of more than {_LONGEST_WORD} letters in two")


def create_part_expansions(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Adds to `lookups` the parts of the queries without any candidate that may be names within them, or creators."""
    rows: list[tuple[Any, ...]] = []
    for params in part_patterns(connection, catalog):
        rows += connection.execute(statement("span_sources"), params | {"letters": MOST_LETTERS}).fetchall()
        long = connection.execute(
            statement("span_too_long"),
            {name: params[name] for name in ("language", "spaced")} | {"letters": MOST_LETTERS},
        ).fetchall()
        _tell(connection, [lookup for (lookup,) in long], f"parts of more than {MOST_LETTERS} letters without spaces")
    _insert(connection, _written(rows), variants=False)


def _written(rows: Iterable[Sequence[Any]]) -> Iterator[Text]:
    """The other forms of the rows (lookup, language, surface, key, form, cost), as a name would be written."""
    for lookup, language, surface, key, form, cost in rows:
        if form:
            text = as_written(surface, key, form)
            yield lookup, language, text, cost
            for other in _LETTERS.get(language, {}).get(text[-1:], ()):
                yield lookup, language, text[:-1] + other, cost


def _tell(connection: duckdb.DuckDBPyConnection, lookups: Sequence[int], reason: str) -> None:
    """Adds to `unsearched` that these lookups were not looked for in this way."""
    reasons = pa.array([reason] * len(lookups), pa.string())
    rows = pa.table({"lookup": pa.array(lookups, pa.uint32()), "reason": reasons})
    connection.from_arrow(rows).insert_into("unsearched")


def _insert(connection: duckdb.DuckDBPyConnection, texts: Iterable[Text], *, variants: bool) -> None:
    rows = [dict(zip(_TEXTS_SCHEMA.names, row, strict=True)) for row in sorted(set(texts))]
    connection.register("expansion_texts", pa.Table.from_pylist(rows, schema=_TEXTS_SCHEMA))
    connection.execute(statement("expansion_choice"), {"marks": marks(), "most": MOST, "variants": variants})
    connection.execute(statement("expansions"))
    connection.execute(statement("expansion_lookups"))
    connection.unregister("expansion_texts")


def as_written(surface: str, key: str, form: str) -> str:
    """A form of a surface's normal form (`key`), with the letters and marks of the surface.

    The surface "dell'olio d'oliva" has the key "dellolio doliva"; its form "olio doliva" gives "olio d'oliva".
    """
    places = _places(surface, key)
    if places is None:
        return form
    return "".join(
        surface[places[step.src_start] : places[step.src_end - 1] + 1]
        if step.tag == "equal"
        else form[step.dest_start : step.dest_end]
        for step in Levenshtein.opcodes(key, form)
    )


def _places(surface: str, key: str) -> list[int] | None:
    """The offset in the surface of each letter of its normal form; None where the two cannot be aligned."""
    kept = [place for place, letter in enumerate(surface) if not re.match(marks(), letter)]
    letters = "".join(surface[place].casefold() for place in kept)
    steps = Levenshtein.opcodes(letters, key)
    if len(letters) != len(kept) or any(step.tag == "insert" for step in steps):
        return None
    whole = [step for step in steps if step.tag != "delete"]
    return [kept[at] for step in whole for at in range(step.src_start, step.src_end)]


def _guesses(surface: str, language: Language) -> Iterator[tuple[str, int]]:
    """The surface with letters, an article, a blank or a dot that a name may have, each with its cost."""
    for rule in inflection_of(language).get("searched", []):
        guess = surface
        for pattern, other in zip(rule[::2], rule[1::2], strict=True):
            guess = re.sub(pattern, other, guess, flags=re.IGNORECASE)
        if guess != surface:
            yield guess, _GUESSED
    for guess in _parted(surface, language):
        yield guess, _PARTED


def _has_long_word(surface: str) -> bool:
    """Has it a word that may be two in a name, and is not searched as two?"""
    return any(len(word) > _LONGEST_WORD for _, pattern, *_ in _JOINTS for word in re.findall(pattern, surface))


def _parted(surface: str, language: Language) -> Iterator[str]:
    """The surface with a blank, or what the language writes between the parts of names, at each place of a word.

    An index compares names without both; a service finds the name only as it is written.
    """
    base = language.label_languages[0].partition("-")[0]
    for code, pattern, joint, least in _JOINTS:
        for word in re.finditer(pattern, surface):
            if code in ("", base) and len(word[0]) <= _LONGEST_WORD:
                for place in range(word.start() + least, word.end() - least + 1):
                    yield surface[:place] + joint + surface[place:]
    yield re.sub(r"(?<=[a-zà-ɏ])(?=[A-ZÀ-Þ])", " ", surface)  # HassoPlattner
    yield re.sub(r"(?!の)[ぁ-ゖー]{3,}", lambda word: word[0].translate(_TO_KATAKANA), surface)
    if base in _DOTS:
        yield re.sub(r"(?<=\w) (?=\w)", _DOTS[base], surface)
