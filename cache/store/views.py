"""The statements that make a layout's tables and views, in the order of their dependencies.

`cache.store.store` executes those that a query needs, over a run's files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from polyculture.cache.store.layout import Layer, Layout, Requests, Table, Wanted

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
ViewStatement = tuple[str, str | Table[Any]]
_CREATE = re.compile(r"^CREATE (?:VIEW|MACRO|TABLE) \"?(\w+)", re.MULTILINE | re.IGNORECASE)
_SCHEMA = re.compile(r"\b(?:dictionary|show|information_schema|(?:duckdb|pragma|sqlite|pg)_\w+)\b", re.IGNORECASE)


def asks_of_schema(query: str) -> bool:
    """Does a query ask which views there are, or what they mean? Then it needs all of them."""
    return bool(_SCHEMA.search(re.sub(r"--.*", "", query)))


def statements_of(layout: Layout) -> list[ViewStatement]:
    """All that makes the views of a layout, in order: empty tables, what the manifest says, its layers."""
    found: list[ViewStatement] = [(f"stored_{table.name}", table) for table in layout.tables]
    found += _of_file(RUN)
    found += _of_declared(layout, found)
    for layer in (layout.current, layout.views):
        for file in layer.files:
            for statement in _of_file(file):
                found.append(statement)
                if layer is layout.current:
                    found += _of_declared(layout, found)
        found += _of_feeds(layout, layer)
        for file in layer.closing:
            found += _of_file(file)
    return found


def _of_file(file: Path | Table[Any]) -> list[ViewStatement]:
    """The statements of a file, each of which begins a line: CREATE VIEW, MACRO or TABLE; of a table its view."""
    if isinstance(file, Table):
        return [(file.name, f"CREATE VIEW {file.name} AS FROM stored_{file.name}")]
    return list(_statements_in(file.name, file.read_text(encoding="utf-8")))


@lru_cache(maxsize=1024)  # a command opens some twenty stores, each of which needs all of them
def _statements_in(file: str, text: str) -> tuple[tuple[str, str], ...]:
    starts = list(_CREATE.finditer(text))
    ends = [*(start.start() for start in starts[1:]), len(text)]
    if not starts or re.sub(r"--.*", "", text[: starts[0].start()]).strip():
        raise ValueError(f"{file}: begin each statement with CREATE VIEW, MACRO or TABLE at the start of a line")
    return tuple((start[1], text[start.start() : end]) for start, end in zip(starts, ends, strict=True))


def _of_declared(layout: Layout, found: Sequence[ViewStatement]) -> list[ViewStatement]:
    """The views that tables declare: of what is asked now, and of rows that count once what they read is there."""
    there, made = {name for name, _ in found}, list[ViewStatement]()
    for table in layout.tables:
        asked = table.requests
        if asked is not None and table.name not in there:
            made.append((table.name, f"CREATE VIEW {table.name} AS {requests_that_count(table, asked)}"))
            there.add(table.name)
    for table in layout.tables:
        if table.wanted is not None and table.wanted.view in there and table.name not in there:
            made.append((table.name, f"CREATE VIEW {table.name} AS {rows_that_count(table, table.wanted)}"))
    return made


def requests_that_count(table: Table[Any], asked: Requests) -> str:
    """The query for the requests that are asked now."""
    use = f"'{asked.use}'" if asked.use else "w.use"
    setup = f"({use}, w.model, w.setup_id) IN (SELECT (use, model, setup_id) FROM run_setups)"  # noqa: S608
    models = " OR ".join(["w.model IN (SELECT model FROM run_models)", *filter(None, [asked.brought])])
    rows = f"FROM stored_{table.name} AS w"
    if asked.instrument:
        rows += f" SEMI JOIN run_asked AS a ON a.instrument = '{asked.instrument}' AND a.id = w.asked_id"
    return f"SELECT w.* {rows} WHERE (w.setup_id IS NULL OR {setup}) AND ({models})"


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
    return f"SELECT '{table.stage}' AS stage, {columns} FROM stored_{table.name} WHERE purchase IS NOT NULL"  # noqa: S608


def failed_rows(table: Table[Any]) -> str:
    """The query for the rows of a table that count and have no answer."""
    columns = f"'{table.stage or table.name}' AS stage, model, language, topic, error, retryable"
    return f"SELECT {columns} FROM {table.name} WHERE status = 'failed'"  # noqa: S608


def _of_feeds(layout: Layout, layer: Layer) -> list[ViewStatement]:
    feeds = {view: [f"FROM {source}" for source in sources] for view, sources in layer.feeds.items()}
    if layer is layout.current:
        for table in layout.tables:
            if table.stage is not None:
                feeds.setdefault("bought", []).append(bought_rows(table))
            if table.wanted is not None and "error" in table.columns:
                feeds.setdefault("failed", []).append(failed_rows(table))
    return [(view, f"CREATE VIEW {view} AS {' UNION ALL BY NAME '.join(sources)}") for view, sources in feeds.items()]


def sql_type(kind: pa.DataType) -> str:
    """The type of a stored column, as DuckDB writes it."""
    return _SQL_TYPES[kind]


def create_table(table: Table[Any], *, temporary: bool = False) -> str:
    """The statement that creates a table without rows."""
    columns = ", ".join(f'"{field.name}" {sql_type(field.type)}' for field in table.schema)
    return f"CREATE {'TEMP ' if temporary else ''}TABLE stored_{table.name} ({columns})"
