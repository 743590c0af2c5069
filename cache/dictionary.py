"""The store's data dictionary: what a row of each view is, and what each of its columns means.

    rows = describe(connection, layout, layout.files)
    rows[0]["meaning"]

Nothing is written twice. The header above a view in its SQL file (`sql_file`) explains the view and columns of its
own, the comment beside a field of a row type explains that column of the table, and of all views that read it. Columns
that several views compute are explained once, in the glossary `columns.toml` beside their SQL files, or in that of this
room, which is for all. What all of these leave out is explained by the glossaries of the other rooms: `condition` is
one thing in a metric and another in an instrument.
"""

from __future__ import annotations

import inspect
import tokenize
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from polyculture.cache.errors import StoreError, did_you_mean
from polyculture.cache.layout import Layout, Table, selection_files
from polyculture.cache.sql_file import Header, names_in, read_headers

if TYPE_CHECKING:
    import duckdb

COLUMNS = "columns.toml"
_QUERY = """
SELECT table_name, column_name, data_type
FROM duckdb_columns()
WHERE database_name = current_database() AND schema_name = 'main'
ORDER BY table_name, column_index
"""
_VIEWS = """
SELECT view_name, sql FROM duckdb_views() WHERE database_name = current_database() AND schema_name = 'main'
"""
# The schema lists neither rows of other settings nor the views below the public ones.
DICTIONARY = """
SELECT view, "column", type, meaning FROM dictionary WHERE view NOT SIMILAR TO '(stored|run)_.*' ORDER BY rowid
"""
VIEW_COLUMNS = """
SELECT "column", type, meaning FROM dictionary WHERE view = $view AND "column" <> '' ORDER BY rowid
"""
_MEANING = "SELECT meaning FROM dictionary WHERE view = $view AND \"column\" = ''"
ALL_VIEWS = "polyculture sql EXPERIMENT"


def describe(connection: duckdb.DuckDBPyConnection, layout: Layout, files: Sequence[Path]) -> list[dict[str, str]]:
    """A row per view (its `column` is empty), followed by a row per column of it: view, column, type, meaning.

    `files` are the SQL files that made the views.
    """
    headers = {header.name: (header, file) for file in files for header in _headers(file)}
    for table in layout.tables:
        if table.wanted is not None:  # its view has no SQL file: it is of the room of its requests
            _, file = headers.get(table.wanted.view, (None, files[0]))
            row = " ".join((table.row.__doc__ or "").split())
            headers.setdefault(table.name, (Header(table.name, row), file))
    glossaries = _glossaries(files)
    shared, *of_rooms = glossaries.values()
    declared = {table.name: table_comments(table) for table in layout.tables}
    explained = {name: header.columns for name, (header, _) in headers.items()}
    for name, words in declared.items():  # 'as in `responses`' says nothing more than the views that are read
        explained[f"stored_{name}"] = {at: said for at, said in words.items() if not said.startswith("as in ")}
    reads = {view: names_in(sql) for view, sql in connection.execute(_VIEWS).fetchall()}
    rows: list[dict[str, str]] = []
    for view, column, type_name in connection.execute(_QUERY).fetchall():
        stored = view.startswith("stored_") and view.removeprefix("stored_") in declared
        name = view.removeprefix("stored_") if stored else view  # all rows mean what those that count mean
        header, file = headers.get(name, (Header(name, ""), files[0]))
        if not rows or rows[-1]["view"] != view:
            row = f"all rows of `{name}` on disk, also those made under other settings" if stored else header.row
            rows.append({"view": view, "column": "", "type": "", "meaning": row})
            sources = [explained[source] for source in _below(view, reads) if source in explained]
        own = (header.columns, declared.get(name, {}), glossaries.get(file.with_name(COLUMNS), {}))
        meanings = (words[column] for words in (*own, shared, *sources, *of_rooms) if words.get(column))
        rows.append({"view": view, "column": column, "type": type_name, "meaning": next(meanings, "")})
    return rows


def describe_selections(selections: Collection[str]) -> list[dict[str, str]]:
    """A row per selection: its schema, which has every view once more, and what differs there."""
    rows = []
    for selection in selections:
        differs = " ".join(header.row for file in selection_files(selection) for header in _headers(file))
        rows.append({"view": f"{selection}.*", "column": "", "type": "", "meaning": differs})
    return rows


def _below(view: str, reads: Mapping[str, Sequence[str]]) -> list[str]:
    """All that a view reads, and what these read: the nearest first, and of a view what it names first."""
    found = list(reads.get(view, ()))
    for name in found:  # it grows
        found += [other for other in reads.get(name, ()) if other not in found]
    return found


def _headers(file: Path) -> Iterator[Header]:
    return read_headers(file.read_text(encoding="utf-8"))


def _glossaries(files: Sequence[Path]) -> dict[Path, dict[str, str]]:
    """What the glossaries beside the files say, in the order of the files."""
    found = dict.fromkeys(file.with_name(COLUMNS) for file in files)
    return {file: tomllib.loads(file.read_text(encoding="utf-8"))["columns"] for file in found if file.exists()}


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
    remedy = did_you_mean(wanted, names, most=3, otherwise=f"See all of them: {see}")
    raise StoreError(f"there is no view {asked}", remedy=remedy)


def meaning_of(store: duckdb.DuckDBPyConnection, view: str) -> str:
    """What a row of a view is."""
    found = store.sql(_MEANING, params={"view": view}).fetchall()
    return str(found[0][0]) if found and found[0][0] else "not described"
