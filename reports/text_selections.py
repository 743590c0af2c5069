"""What the page says of the selections of texts that comparisons are also made of.

A comparison is also made without refusals, without texts that were cut, and without texts in another language. The page
names those alone that leave a text of the run out, with how many, and says where nobody knows which texts to leave out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polyculture.reports.numbers import count
from polyculture.reports.texts import texts

SELECTIONS = "FROM text_selections ORDER BY selection"
_MANY_UNKNOWN = 0.05  # of the texts: with fewer, a selection leaves out nearly all that it should


@dataclass(frozen=True, slots=True)
class TextSelections:
    """`left_out`: what each selection leaves out, '12 refusals'; `unknown`: sentences on what nobody knows."""

    left_out: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def joined(self, last: str) -> str:
        """'12 refusals, 30 texts that were cut LAST 4 texts in another language'; empty where nothing is left out."""
        *first, end = self.left_out or ("",)
        return f"{', '.join(first)} {last} {end}" if first else end


def text_selections(rows: Sequence[Mapping[str, Any]]) -> TextSelections:
    """What the selections of a run leave out, from the rows of `SELECTIONS`."""
    left_out = (f"{count(row['left_out'])} {_noun(row)}" for row in rows if row["left_out"])
    return TextSelections(tuple(left_out), tuple(_unknown(rows)))


def _noun(row: Mapping[str, Any]) -> str:
    said = texts().selections[row["selection"]]
    return said.one if row["left_out"] == 1 else said.many


def _unknown(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        if row["unknown"] > _MANY_UNKNOWN * row["texts"]:
            all_of = count(row["texts"])
            which = f"the {all_of}" if row["unknown"] == row["texts"] else f"{count(row['unknown'])} of the {all_of}"
            yield texts().selections[row["selection"]].unknown.format(which=which)
