"""What the selections of texts leave out, in words, for the page and for whoever compares.

A comparison is also made without refusals, without texts that were cut, and without texts in another language. The page
names those alone that leave a text of the run out, with how many, and says where nobody knows which texts to leave out.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from polyculture.cache.store.store import Store
from polyculture.cache.validation import ClosedModel

_MANY_UNKNOWN = 0.05  # of the texts: with fewer, a selection leaves out nearly all that it should


class _Words(ClosedModel):
    """What a selection leaves out: `one` text, or `many`; `unknown` is of those of which nobody knows."""

    one: str
    many: str
    unknown: str


class _SelectionRow(NamedTuple):
    """A row of the view `text_selections`."""

    selection: str
    texts: int
    left_out: int
    unknown: int


@dataclass(frozen=True, slots=True)
class TextSelections:
    """`left_out`: what each selection leaves out, '12 refusals'; `unknown`: sentences on what nobody knows."""

    left_out: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def joined(self, last: str) -> str:
        """'12 refusals, 30 texts that were cut LAST 4 texts in another language'; empty where nothing is left out."""
        *first, end = self.left_out or ("",)
        return f"{', '.join(first)} {last} {end}" if first else end


def text_selections(store: Store) -> TextSelections:
    """What the selections of a run leave out."""
    query = "SELECT selection, texts, left_out, unknown FROM text_selections ORDER BY selection"
    rows = [_SelectionRow(*row) for row in store.execute(query).fetchall()]
    left_out = (f"{row.left_out:,} {_noun(row)}" for row in rows if row.left_out)
    return TextSelections(tuple(left_out), tuple(_unknown(rows)))


def _noun(row: _SelectionRow) -> str:
    words = _read_words()[row.selection]
    return words.one if row.left_out == 1 else words.many


def _unknown(rows: Sequence[_SelectionRow]) -> Iterator[str]:
    for row in rows:
        if row.unknown > _MANY_UNKNOWN * row.texts:
            all_of = f"{row.texts:,}"
            which = f"the {all_of}" if row.unknown == row.texts else f"{row.unknown:,} of the {all_of}"
            yield _read_words()[row.selection].unknown.format(which=which)


@cache
def _read_words() -> Mapping[str, _Words]:
    said = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {name: _Words.model_validate(words) for name, words in said.items()}
