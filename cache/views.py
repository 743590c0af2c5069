"""What the dictionary of a store says: the names of its views, and what their rows and columns are."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from polyculture.cache.errors import StoreError

if TYPE_CHECKING:
    import duckdb

# The schema lists neither rows of other settings nor the views below the public ones.
DICTIONARY = """
SELECT view, "column", type, meaning FROM dictionary WHERE view NOT SIMILAR TO '(stored|run)_.*' ORDER BY rowid
"""
COLUMNS = """
SELECT "column", type, meaning FROM dictionary WHERE view = $view AND "column" <> '' ORDER BY rowid
"""
_MEANING = "SELECT meaning FROM dictionary WHERE view = $view AND \"column\" = ''"
ALL_VIEWS = "polyculture sql EXPERIMENT --schema"


def known_view(store: duckdb.DuckDBPyConnection, asked: str, see: str = ALL_VIEWS) -> str:
    """The name of a view as the dictionary has it. Raises `StoreError` where there is none, with names like it.

    `see` says where all views are listed.
    """
    names = [name for (name,) in store.sql("SELECT DISTINCT view FROM dictionary ORDER BY view").fetchall()]
    wanted = asked.strip().strip('"').lower()
    wanted = wanted if wanted in names else wanted.rpartition(".")[2]  # a selection's views are those of all
    if wanted in names:
        return wanted
    near = get_close_matches(wanted, names, 3)
    remedy = f"Did you mean {' or '.join(near)}?" if near else f"See all of them: {see}"
    raise StoreError(f"there is no view {asked}", remedy=remedy)


def meaning_of(store: duckdb.DuckDBPyConnection, view: str) -> str:
    """What a row of a view is."""
    found = store.sql(_MEANING, params={"view": view}).fetchall()
    return str(found[0][0]) if found and found[0][0] else "not described"
