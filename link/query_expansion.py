"""The names under which a service is asked for what as it stands leads to nothing in its topic.

An index compares normal forms, of names and mentions alike. A service knows names as they are written, so whatever
is made of a mention has to be written again as the mention is, and what a name may have that the mention lacks has to
be guessed: a few letters, an article. What is found is judged as an index's items are: a guess costs a request, and
cannot make a wrong link.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import duckdb
import pyarrow as pa
from rapidfuzz.distance import Levenshtein

from polyculture.cache.catalog import Catalog, Language
from polyculture.link.normalise import marks
from polyculture.link.statements import statement
from polyculture.link.variants import inflection_of

_COLUMNS: list[tuple[str, pa.DataType]] = [("own", pa.uint32()), ("language", pa.string()), ("surface", pa.string())]
_WRITTEN = pa.schema(_COLUMNS)


def lay_out_searches(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Adds to `lookups` what is to be searched for the asks in `unmatched`, by the forms of `lay_out_forms`."""
    rows = {
        (lookup, language, text)
        for lookup, language, surface, key, forms in connection.sql(statement("unwritten")).fetchall()
        for text in [
            *(as_written(surface, key, form) for form in forms or []),
            *_guesses(surface.strip(), catalog.language(language)),
        ]
    }
    written = pa.Table.from_pylist(
        [dict(zip(_WRITTEN.names, row, strict=True)) for row in sorted(rows)], schema=_WRITTEN
    )
    connection.from_arrow(written).create("written")
    connection.execute(statement("turned"), {"marks": marks()})
    connection.execute(statement("variant_lookups"))


def as_written(surface: str, key: str, form: str) -> str:
    """A form that was made of a surface's normal form, in the letters and with the marks that the surface has.

    "olio doliva", of "dellolio doliva", of "dell'olio d'oliva", is "olio d'oliva".
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
    """Where in the surface each letter of its normal form stands; None where that is not to be told."""
    kept = [place for place, letter in enumerate(surface) if not re.match(marks(), letter)]
    letters = "".join(surface[place].casefold() for place in kept)
    steps = Levenshtein.opcodes(letters, key)
    if len(letters) != len(kept) or any(step.tag == "insert" for step in steps):
        return None
    whole = [step for step in steps if step.tag != "delete"]
    return [kept[at] for step in whole for at in range(step.src_start, step.src_end)]


def _guesses(surface: str, language: Language) -> Iterator[str]:
    """What the surface would be with the letters or the article that a name may have, by the language's rules."""
    for rule in inflection_of(language).get("searched", []):
        guess = surface
        for pattern, other in zip(rule[::2], rule[1::2], strict=True):
            guess = re.sub(pattern, other, guess, flags=re.IGNORECASE)
        if guess != surface:
            yield guess
