"""The store's data dictionary: what a row of each view is, and what each of its columns means.

    rows = describe(connection, layout)
    rows[0]["meaning"]

Nothing is written twice. The comment above a view in its SQL file explains the view, the comment beside a field of a
row type explains the column, and the `columns.toml` beside the view's SQL file explains its other columns. What that
file leaves out is explained by those of the other rooms, in the layout's order: `condition` is one thing in a metric
and another in an instrument.
"""

from __future__ import annotations

import inspect
import re
import tokenize
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from polyculture.cache.errors import StoreError
from polyculture.cache.layout import Layout, Table
from polyculture.cache.selections import selection_files

if TYPE_CHECKING:
    import duckdb

COLUMNS = "columns.toml"
_HEADER = re.compile(r"^-- (\w+): ((?:.*\n--)*.*\n)", flags=re.MULTILINE)
_QUERY = """
SELECT table_name, column_name, data_type
FROM duckdb_columns()
WHERE NOT internal AND schema_name = 'main'
ORDER BY table_name, column_index
"""
# The schema lists neither rows of other settings nor the views below the public ones.
DICTIONARY = """
SELECT view, "column", type, meaning FROM dictionary WHERE view NOT SIMILAR TO '(stored|run)_.*' ORDER BY rowid
"""
VIEW_COLUMNS = """
SELECT "column", type, meaning FROM dictionary WHERE view = $view AND "column" <> '' ORDER BY rowid
"""
_MEANING = "SELECT meaning FROM dictionary WHERE view = $view AND \"column\" = ''"
ALL_VIEWS = "polyculture sql EXPERIMENT --schema"


def describe(connection: duckdb.DuckDBPyConnection, layout: Layout) -> list[dict[str, str]]:
    """A row per view (its `column` is empty), followed by a row per column of it: view, column, type, meaning."""
    headers = dict(_headers(layout.files))
    rooms = _rooms(layout.files)
    homes = {view: file.with_name(COLUMNS) for file in layout.files for view, _ in _headers([file])}
    declared = {table.name: table_comments(table) for table in layout.tables}
    wanted = [table for table in layout.tables if table.wanted is not None]
    counting = {table.name: " ".join((table.row.__doc__ or "").split()) for table in wanted}
    rows: list[dict[str, str]] = []
    for view, column, type_name in connection.execute(_QUERY).fetchall():
        if not rows or rows[-1]["view"] != view:
            row = next(filter(None, (room.views.get(view, {}).get("row") for room in rooms.values())), "")
            meaning = headers.get(view) or row or counting.get(view) or _stored(view, declared)
            rows.append({"view": view, "column": "", "type": "", "meaning": meaning})
        home = rooms.get(homes.get(view.removeprefix("stored_"), Path()))
        meaning = _meaning(view, column, [*([home] if home else []), *rooms.values()], declared)
        rows.append({"view": view, "column": column, "type": type_name, "meaning": meaning})
    return rows


def describe_selections(selections: Collection[str]) -> list[dict[str, str]]:
    """A row per selection: its schema, which has every view once more, and what differs there."""
    rows = []
    for selection in selections:
        differs = " ".join(text for _, text in _headers(selection_files(selection)))
        rows.append({"view": f"{selection}.*", "column": "", "type": "", "meaning": differs})
    return rows


def _meaning(view: str, column: str, rooms: Sequence[_Room], declared: Mapping[str, Mapping[str, str]]) -> str:
    own = [room.views.get(view, {}).get(column, "") for room in rooms]
    of_table = declared.get(view.removeprefix("stored_"), {}).get(column, "")
    return next(filter(None, (*own, of_table, *(room.columns.get(column, "") for room in rooms))), "")


def _stored(view: str, declared: Collection[str]) -> str:
    table = view.removeprefix("stored_")
    return f"all rows of `{table}` on disk, also those made under other settings" if table in declared else ""


def _headers(files: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """What the comments that begin `-- name: ` say of a view, in one line each."""
    for file in files:
        for name, text in _HEADER.findall(file.read_text(encoding="utf-8")):
            yield name, re.sub(r"\s*\n(--)?\s*", " ", text).strip()


@dataclass(frozen=True)
class _Room:
    """What a `columns.toml` says: of a column of any view (`columns`), of one in a single view (`views`)."""

    columns: Mapping[str, str]
    views: Mapping[str, Mapping[str, str]]


def _rooms(files: Sequence[Path]) -> dict[Path, _Room]:
    """What the `columns.toml` beside the files say, in the order of the files."""
    found = {}
    for file in dict.fromkeys(file.with_name(COLUMNS) for file in files):
        if file.exists():
            said = tomllib.loads(file.read_text(encoding="utf-8"))
            found[file] = _Room(said.get("columns", {}), said.get("views", {}))
    return found


@cache
def table_comments(table: Table[Any]) -> dict[str, str]:
    """The comments that stand beside the columns of a table's row type."""
    return dict(_field_comments(table.row))


def _field_comments(row: type[Any]) -> Iterator[tuple[str, str]]:
    lines, _ = inspect.getsourcelines(row)
    names = {token.start[0]: token.string for token in _tokens(lines) if _begins_line(token)}
    for token in _tokens(lines):
        if token.type == tokenize.COMMENT and token.start[0] in names:
            yield names[token.start[0]], token.string.removeprefix("#").strip()


def _begins_line(token: tokenize.TokenInfo) -> bool:
    return token.type == tokenize.NAME and not token.line[: token.start[1]].strip()


def _tokens(lines: list[str]) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(iter(lines).__next__)


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
