"""Query expansion for a live service: further names to search for queries without an exact match in the topic.

An index compares normal forms of names and mentions. A service searches names as they are written. So each form of a
mention is written back in the mention's spelling, and letters or articles that only the name has are guessed. The items
found are then matched like an index's items: a wrong guess costs a request, never a wrong link.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import duckdb
import pyarrow as pa
from rapidfuzz.distance import Levenshtein

from polyculture.cache.catalog import Catalog, Language
from polyculture.link.inflection import inflection_of
from polyculture.link.normalise import marks
from polyculture.link.statements import statement

_COLUMNS: list[tuple[str, pa.DataType]] = [("own", pa.uint32()), ("language", pa.string()), ("surface", pa.string())]
_TEXTS_SCHEMA = pa.schema(_COLUMNS)


def create_expansions(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Adds to `lookups` the expansions of the queries in `unmatched`, made from the forms of `create_forms`."""
    rows = {
        (lookup, language, text)
        for lookup, language, surface, key, forms in connection.sql(statement("expansion_sources")).fetchall()
        for text in [
            *(as_written(surface, key, form) for form in forms or []),
            *_guesses(surface.strip(), catalog.language(language)),
        ]
    }
    written = pa.Table.from_pylist(
        [dict(zip(_TEXTS_SCHEMA.names, row, strict=True)) for row in sorted(rows)], schema=_TEXTS_SCHEMA
    )
    connection.from_arrow(written).create("expansion_texts")
    connection.execute(statement("expansions"), {"marks": marks()})
    connection.execute(statement("expansion_lookups"))


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


def _guesses(surface: str, language: Language) -> Iterator[str]:
    """The surface with letters or an article that a name may have, by the language's rules."""
    for rule in inflection_of(language).get("searched", []):
        guess = surface
        for pattern, other in zip(rule[::2], rule[1::2], strict=True):
            guess = re.sub(pattern, other, guess, flags=re.IGNORECASE)
        if guess != surface:
            yield guess
