"""A store without rows: the empty tables of a layout, and its views. `cache.store.store` puts a run's rows in.

DuckDB takes half a second to parse all views. So a store for any query is made once, and its file kept in the user's
cache folder (1.3 MB) until the SQL changes. Of a store for a query that is known beforehand, only those views are made
that it names, and what they rest on.
"""

from __future__ import annotations

import inspect
import re
import shutil
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from polyculture.cache.database import memory_database
from polyculture.cache.errors import StoreError
from polyculture.cache.files import cache_folder, replacing
from polyculture.cache.identity import content_id
from polyculture.cache.store.layout import Layer, Layout, Table, Wanted
from polyculture.cache.store.sql_file import COLUMNS, describe, names_in

RUN = Path(__file__).with_name("run.sql")
# Not from an empty Arrow table: Arrow loads pandas to make one, a quarter of a second of every command.
_SQL_TYPES: dict[pa.DataType, str] = {
    pa.string(): "VARCHAR",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.list_(pa.string()): "VARCHAR[]",
    pa.list_(pa.int64()): "BIGINT[]",
    pa.list_(pa.float64()): "DOUBLE[]",
    pa.map_(pa.string(), pa.string()): "MAP(VARCHAR, VARCHAR)",
    pa.map_(pa.string(), pa.int64()): "MAP(VARCHAR, BIGINT)",
}
# The name of what it creates, and its SQL, or the table that is created empty: of most of them nobody asks the columns.
Statement = tuple[str, str | Table[Any]]
_CREATE = re.compile(r"^CREATE (?:VIEW|MACRO|TABLE) \"?(\w+)", re.MULTILINE | re.IGNORECASE)
_SCHEMA = re.compile(r"\b(?:dictionary|show|information_schema|(?:duckdb|pragma|sqlite|pg)_\w+)\b", re.IGNORECASE)
_KEPT_FOR = 30 * 86400.0  # seconds, after which templates are removed; those in use are made again


def write_view_template(path: Path, layout: Layout) -> None:
    """Writes a store without rows to `path`.

    It is copied from the cache folder. Where that copy is missing or damaged, it is created, and kept if the folder is
    writable.
    """
    kept = cache_folder() / "stores" / f"{_identity(layout)}.duckdb"
    if kept.exists():
        shutil.copyfile(kept, path)
        with suppress(duckdb.IOException), memory_database(path):
            return
        path.unlink()
    _make(path, layout)
    with suppress(StoreError), replacing(kept) as temporary:
        shutil.copyfile(path, temporary)
        _forget_older(kept.parent)


def create_views(connection: duckdb.DuckDBPyConnection, layout: Layout, asked: str | None = None) -> set[str]:
    """Creates the empty tables of a layout and its views over them, and returns their names.

    `asked` is the SQL that will be asked: only views that it names (`FROM NAME`) are created, and what these rest on.
    """
    statements = needed(statements_of(layout), asked)
    for _, statement in statements:
        connection.execute(_sql(statement))
    return {name for name, _ in statements}


def needed(statements: Sequence[Statement], asked: str | None) -> list[Statement]:
    """Of statements in the order of their dependencies those whose views a query names, and what these rest on.

    All of them where it is not known what will be asked.
    """
    if asked is None:
        return list(statements)
    found, names = [], set(names_in(asked))
    for name, statement in reversed(statements):
        if name.lower() in names:
            found.append((name, statement))
            names.update(names_in(statement) if isinstance(statement, str) else ())
    return found[::-1]


def asks_of_schema(query: str) -> bool:
    """Does a query ask which views there are? Then it needs all of them."""
    return bool(_SCHEMA.search(query))


def _make(path: Path, layout: Layout) -> None:
    with memory_database(path) as connection:
        create_views(connection, layout)
        rows = describe(connection, layout, [RUN, *layout.files])
        connection.from_arrow(pa.Table.from_pylist(rows)).create("dictionary")
        connection.execute("CHECKPOINT")  # closing writes, too, but does not report a full disk


def statements_of(layout: Layout) -> list[Statement]:
    """All that makes the views of a layout, in order: empty tables, what the manifest says, its layers."""
    found: list[Statement] = [(f"stored_{table.name}", table) for table in layout.tables]
    found += _of_file(RUN)
    for layer in (layout.current, layout.views):
        for file in layer.files:
            found += _of_file(file)
            if layer is layout.current:
                found += _of_wanted(layout, {name for name, _ in found})
        found += _of_feeds(layout, layer)
        for file in layer.closing:
            found += _of_file(file)
    return found


def _of_file(file: Path) -> list[Statement]:
    """The statements of a file, each of which begins a line: CREATE VIEW, MACRO or TABLE."""
    text = file.read_text(encoding="utf-8")
    starts = list(_CREATE.finditer(text))
    ends = [*(start.start() for start in starts[1:]), len(text)]
    if not starts or re.sub(r"--.*", "", text[: starts[0].start()]).strip():
        raise ValueError(f"{file.name}: begin each statement with CREATE VIEW, MACRO or TABLE at the start of a line")
    return [(start[1], text[start.start() : end]) for start, end in zip(starts, ends, strict=True)]


def _of_wanted(layout: Layout, there: Collection[str]) -> list[Statement]:
    """The views of tables that say by which view their rows count, once that view is there."""
    return [
        (table.name, f"CREATE VIEW {table.name} AS {rows_that_count(table, table.wanted)}")
        for table in layout.tables
        if table.wanted is not None and table.wanted.view in there and table.name not in there
    ]


def rows_that_count(table: Table[Any], wanted: Wanted) -> str:
    """The query for the rows of a table that count now."""
    usable = " WHERE t.status <> 'unusable'" if "status" in table.columns else ""
    if wanted.facts:
        same = ", ".join(("request_id", *wanted.alike))
        return f"SELECT * FROM stored_{table.name} AS t JOIN {wanted.view} USING ({same}){usable}"  # noqa: S608
    alike = ["w.request_id = t.request_id", *(["t.sample < w.n"] if "sample" in table.columns else [])]
    alike += [f"t.{column} IS NOT DISTINCT FROM w.{column}" for column in wanted.alike]
    rows = f"FROM stored_{table.name} AS t SEMI JOIN {wanted.view} AS w ON {' AND '.join(alike)}"
    return f"SELECT t.* {rows}{usable}"


def bought_rows(table: Table[Any]) -> str:
    """The query for what a run bought of a table, whether it still counts or not."""
    counts = "prompt_tokens, completion_tokens, named_cost"
    columns = f"model, language, topic, {table.asked} AS asked, purchase, status, {counts}"
    return f"SELECT '{table.account}' AS stage, {columns} FROM stored_{table.name} WHERE purchase IS NOT NULL"  # noqa: S608


def failed_rows(table: Table[Any]) -> str:
    """The query for the rows of a table that count and have no answer."""
    columns = f"'{table.account or table.name}' AS stage, model, language, topic, error, retryable"
    return f"SELECT {columns} FROM {table.name} WHERE status = 'failed'"  # noqa: S608


def _of_feeds(layout: Layout, layer: Layer) -> list[Statement]:
    feeds = {view: [f"FROM {source}" for source in sources] for view, sources in layer.feeds.items()}
    if layer is layout.current:
        for table in layout.tables:
            if table.wanted is not None and table.account is not None:
                feeds.setdefault("bought", []).append(bought_rows(table))
            if table.wanted is not None and "error" in table.columns:
                feeds.setdefault("failed", []).append(failed_rows(table))
    return [(view, f"CREATE VIEW {view} AS {' UNION ALL BY NAME '.join(sources)}") for view, sources in feeds.items()]


def _sql(made: str | Table[Any]) -> str:
    if isinstance(made, str):
        return made
    columns = ", ".join(f'"{field.name}" {_SQL_TYPES[field.type]}' for field in made.schema)
    return f"CREATE TABLE stored_{made.name} ({columns})"


def _identity(layout: Layout) -> str:
    """A hash of everything that decides the file's content: SQL, dictionary, columns, DuckDB's version."""
    own = Path(__file__).parent
    meanings = sorted({file.with_name(COLUMNS) for file in layout.files})
    rows = sorted({Path(inspect.getfile(table.row)) for table in layout.tables})
    code = [
        own / "view_template.py",
        own / "sql_file.py",
        own / "layout.py",
        *rows,
    ]
    files = [file for file in [RUN, *layout.files, *meanings, *code] if file.exists()]
    feeds = [layer.feeds for layer in (layout.current, layout.views)]
    texts = [file.read_text(encoding="utf-8") for file in files]
    # The columns as this process knows them: the files may have changed since it began.
    tables = [[table.name, *table.schema.names] for table in layout.tables]
    return content_id(duckdb.__version__, feeds, tables, texts)


def _forget_older(folder: Path) -> None:
    for file in folder.glob("*.duckdb"):
        with suppress(OSError):  # another process removes it, too
            if time.time() - file.stat().st_mtime > _KEPT_FOR:
                file.unlink()
