"""Selections: the same views over a part of the rows, each in a schema of its own.

`SELECT * FROM right_language.diversity` is `diversity` without the responses in another language than the prompt's. A
selection replaces some of the stored tables of the schema `main` by views, and creates all other views again on top.
What it does not replace is that of `main`.
"""

from __future__ import annotations

from pathlib import Path

MAIN = "main"
# The schemas, and the files of this folder that create them.
SELECTIONS: dict[str, tuple[str, ...]] = {
    "right_language": ("right_language",),
    "with_ambiguous": ("with_ambiguous",),
    "right_language_with_ambiguous": ("right_language", "with_ambiguous"),
}
# Tables that are computed for each selection: they have a file of their own.
COMPUTED = ("numbers", "saturation_intervals", "variance_components")


def selection_files(selection: str) -> list[Path]:
    """The SQL files that make a selection, in order."""
    return [Path(__file__).with_name(f"{name}.sql") for name in SELECTIONS[selection]]


def file_of(table: str, selection: str = MAIN) -> str:
    """The name of a table's file for a selection: `numbers`, `numbers.right_language`."""
    return table if selection == MAIN or table not in COMPUTED else f"{table}.{selection}"
