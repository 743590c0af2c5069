"""An SQL file: its text, its header, which says what its rows and columns are, and the table that it declares.

The header is the comment above a view or a query, the one place that says what its rows and columns are:

    -- Davies-Bouldin index of native and Western entities
    -- separations: a row is a type of entities of a model at a layer, or the mean over types. A long explanation
    -- goes on in the next line.
    --   corrected: the index less what chance gives
    --   $layer = last: the layer, or all
    --   $by = unit|row: the default first; no other value is taken
    -- printed: model, language, entity_type, estimate, corrected
    -- no rows: nothing was represented yet
    SELECT ...

`name: what a row is` begins a header. Indented by three spaces come columns, and parameters of a query with their
defaults; their explanations go on indented by five. A view needs no more. A table has its title in
the line before, and may say which columns are printed (a file has all of them), which values of its column `metric`
are printed as columns (`side by side: metric`), and what it means that there are no rows.

The terminal, `polyculture table`, the report's downloads and LaTeX, and the site's page of tables all read this file:

    table = read_table(Path("separations.sql"))
    table.select(store, {"layer": 12, "model": ["a", "b"]}).fetchall()

And the store's data dictionary: what a row of each view is, and what each of its columns means. Nothing is written
twice. The header above a view explains the view and columns of its own, the comment beside a field of a row type
explains that column of the table, and of all views that read it. Columns that several views compute are explained
once, in the glossary `columns.toml` beside their SQL files, or in that of this room, which is for all. What all of
these leave out is explained by the glossaries of the other rooms: `condition` is one thing in a metric and another in
an instrument.
"""

from __future__ import annotations

import ast
import inspect
import re
import tokenize
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, is_dataclass
from functools import cache, lru_cache
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from polyculture.cache.errors import StoreError
from polyculture.cache.store.layout import Layout, Table
from polyculture.cache.text.suggestions import did_you_mean

if TYPE_CHECKING:
    import duckdb

_NAME = re.compile(r"-- (\w+): (.*)")
_KEY = re.compile(r"-- (printed|side by side|no rows): (.*)")
_COLUMN = re.compile(r"--   (\$?\w+)(?: = ([^:]+))?: (.*)")
_CONTINUED = re.compile(r"--(?:     | )(\S.*)")
_NAMED = re.compile(r'(?:\b(?:from|join|in|describe|summarize|table)\b|,)(?=[\s(]*(?:"?\w+"?\.)?"?(\w+))|(\w+)\(')
# Columns that say why a number has no interval, or is missing: printed beside the number.
REASONS = ("no_interval", "lacking")
# Columns that are NULL where a number is over all of them.
OVER_ALL = ("language", "culture", "entity_type", "category")
COLUMNS = "columns.toml"
_QUERY = """
SELECT table_name, column_name, data_type
FROM duckdb_columns()
WHERE database_name = current_database() AND schema_name = 'main' AND table_name = coalesce($view, table_name)
ORDER BY table_name, column_index
"""
# The schema lists neither rows of other settings nor the views below the public ones.
DICTIONARY = """
SELECT view, "column", type, meaning FROM dictionary WHERE view NOT SIMILAR TO '(stored|run)_.*' ORDER BY rowid
"""


class Database(Protocol):
    """What answers queries: a store, or a connection of DuckDB."""

    def sql(self, query: str, *, params: object = None) -> duckdb.DuckDBPyRelation:
        """What a query selects."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a query: `NULL` as default is None; other defaults are text, a number or a truth value."""

    default: str | int | float | bool | None
    meaning: str
    allowed: tuple[str | int | float | bool | None, ...] = ()  # the values that it takes; empty: any


@dataclass(frozen=True)
class Header:
    """What the comment above a view or a query says; texts are one line each."""

    name: str
    row: str  # what a row is
    title: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    printed: tuple[str, ...] = ()
    side_by_side: tuple[str, ...] = ()
    no_rows: str = ""


def read_headers(text: str) -> Iterator[Header]:
    """The headers of an SQL text, in order."""
    for is_comment, block in groupby(text.splitlines(), lambda line: line.startswith("--")):
        lines = list(block) if is_comment else []
        named = ((at, found) for at, line in enumerate(lines[:2]) if (found := _NAME.match(line)))
        for at, found in islice(named, 1):
            title = lines[0].removeprefix("-- ") if at else ""
            yield _header(found[1], title, found[2], lines[at + 1 :])


@lru_cache(maxsize=4096)
def names_in(sql: str) -> tuple[str, ...]:
    """The words that stand where SQL has the name of a table, a view or a macro, in small letters, each once."""
    found = _NAMED.findall(re.sub(r"--.*", "", sql).lower())
    return tuple(dict.fromkeys(name for names in found for name in names if name))


def _header(name: str, title: str, row: str, following: list[str]) -> Header:
    said: dict[str, str] = {"": row}  # '' is the row, 'name' a column, '$name' a parameter, '-- name' a key
    defaults: dict[str, str | None] = {}
    last = ""
    for line in following:
        if key := _KEY.match(line):
            last, said[last] = f"-- {key[1]}", key[2]
        elif column := _COLUMN.match(line):
            last, said[last] = column[1], column[3]
            defaults[last] = column[2]
        elif more := _CONTINUED.match(line):
            said[last] += f" {more[1]}"
    return Header(
        name,
        said[""],
        title,
        {word: text for word, text in said.items() if word and word[0] not in "$-"},
        {word[1:]: _parameter(defaults[word] or "NULL", text) for word, text in said.items() if word[0:1] == "$"},
        _words(said.get("-- printed", "")),
        _words(said.get("-- side by side", "")),
        said.get("-- no rows", ""),
    )


def _parameter(values: str, meaning: str) -> Parameter:
    """A parameter by its default, or by all values that it takes: 'mean|each'."""
    first, *others = values.split("|")
    return Parameter(typed(first), meaning, (typed(first), *others) if others else ())


def typed(word: str) -> str | int | float | bool | None:
    """A value as it is written: NULL, true and false, a number, or text."""
    if word in ("NULL", "true", "false"):
        return {"NULL": None, "true": True, "false": False}[word]
    for number in (int, float):
        try:
            return number(word)
        except ValueError:
            continue
    return word


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


@cache
def read_sql(folder: Path, name: str) -> str:
    """The text of `<folder>/<name>.sql`, read once per process. Raises `FileNotFoundError` where there is none."""
    return (folder / f"{name}.sql").read_text(encoding="utf-8")


@dataclass(frozen=True)
class DeclaredTable:
    """A query over the store with what its header says."""

    file: Path
    header: Header
    sql: str  # the whole text

    @property
    def name(self) -> str:
        """Its name, which is the file's."""
        return self.header.name

    def parameters(self, values: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The values of its parameters: those that are given, else the defaults.

        Raises `StoreError` for a value that a parameter does not take.
        """
        given = {name: (values or {}).get(name, one.default) for name, one in self.header.parameters.items()}
        for name, value in given.items():
            allowed = self.header.parameters[name].allowed
            if allowed and value not in allowed:
                remedy = f"It takes {', '.join(repr(one) for one in allowed if one is not None)}."
                raise StoreError(f"the parameter {name} of the table {self.name} is no {value!r}", remedy=remedy)
        return given

    def filled(self, values: Mapping[str, Any] | None = None) -> str:
        """The text with values in the places of its parameters, as a reader of the report may run it."""
        given = self.parameters(values)
        return re.sub(r"\$(\w+)", lambda found: _literal(given[found[1]]) if found[1] in given else found[0], self.sql)

    def select(self, store: Database, values: Mapping[str, Any] | None = None) -> duckdb.DuckDBPyRelation:
        """Its rows. A value whose name is no parameter is a filter (`filtered`)."""
        rows = store.sql(self.sql.rstrip().rstrip(";"), params=self.parameters(values) or None)
        return self.filtered(rows, values)

    def filtered(
        self, rows: duckdb.DuckDBPyRelation, values: Mapping[str, Any] | None = None
    ) -> duckdb.DuckDBPyRelation:
        """The rows whose columns have the values that are no parameters; a list allows each of its members.

        Raises `StoreError` where a name is neither a parameter nor a column.
        """
        import duckdb

        for name, value in (values or {}).items():
            if name in self.header.parameters:
                continue
            if name not in rows.columns:
                remedy = did_you_mean(name, [*self.header.parameters, *rows.columns])
                raise StoreError(f"the table {self.name} has neither a parameter nor a column {name}", remedy=remedy)
            wanted = [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]
            column = duckdb.ColumnExpression(name)
            among = column.cast("VARCHAR").isin(*map(duckdb.ConstantExpression, wanted))
            rows = rows.filter(column.isnull() if value is None else among)
        return rows

    def meanings(self, store: Database, columns: Sequence[str]) -> dict[str, str]:
        """What its columns mean: what the header says, else what the dictionary says of the views that it reads."""
        read = set(re.findall(r"\w+", self.sql))
        said = store.sql('SELECT view, "column", meaning FROM dictionary WHERE "column" <> \'\'').fetchall()
        said.sort(key=lambda one: one[0] not in read)
        known = {column: meaning for _, column, meaning in reversed(said)}
        bounds: dict[str, str] = {}
        for name, (low, high) in limits(columns).items():
            bounds |= {low: f"lower limit of the 95 % interval of {name}"}
            bounds |= {high: f"upper limit of the 95 % interval of {name}"}
        return {name: self.header.columns.get(name) or bounds.get(name) or known.get(name, "") for name in columns}

    def shown_title(self, values: Mapping[str, Any] | None = None) -> str:
        """Its title with the values of its parameters: they decide what the numbers are."""
        said = [f"{name} {value}" for name, value in self.parameters(values).items() if value not in (None, False)]
        return f"{self.header.title} ({', '.join(said)})" if said else self.header.title


@cache
def read_table(file: Path) -> DeclaredTable:
    """The table that an SQL file declares. Raises `ValueError` where the header is missing or names another table."""
    text = file.read_text(encoding="utf-8")
    header = next(read_headers(text), None)
    if header is None or header.name != file.stem or not header.title:
        raise ValueError(f"{file.name} has no header with a title and the name {file.stem}")
    return DeclaredTable(file, header, text)


def limits(columns: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The columns that have a 95 % interval, each with those of its limits.

    `X_low` and `X_high` are the limits of `X`; `low` and `high` are those of the column before them.
    """
    found = {name: (f"{name}_low", f"{name}_high") for name in columns if f"{name}_low" in columns}
    if "low" in columns and columns.index("low"):
        found[columns[columns.index("low") - 1]] = ("low", "high")
    return found


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return "NULL" if value is None else str(value).lower()


def describe(
    connection: duckdb.DuckDBPyConnection,
    layout: Layout,
    files: Sequence[Path],
    reads: Mapping[str, Sequence[str]],
    only: str | None = None,
) -> list[dict[str, str]]:
    """A row per view (its `column` is empty), followed by a row per column of it: view, column, type, meaning.

    `files` are the SQL files that made the views of the connection, `reads` the names that each view reads. `only` is
    the one view that is described, by default all are.
    """
    headers = {header.name: (header, file) for file in files for header in _headers(file)}
    for table in layout.tables:
        if table.name not in headers:  # its view has no SQL file: it is of the room of its requests
            _, file = headers.get(table.wanted.view if table.wanted else table.name, (None, files[0]))
            headers[table.name] = Header(table.name, " ".join((table.row.__doc__ or "").split())), file
    glossaries = _glossaries(files)
    shared, *of_rooms = glossaries.values()
    declared = {table.name: table_comments(table) for table in layout.tables}
    for table in layout.tables:  # what is asked about means the same in the rows that answer
        if table.wanted is not None and table.wanted.of is not None:
            of = table.wanted.of.name
            declared[of] = {**declared[table.name], **declared.get(of, {})}
    explained = {name: header.columns for name, (header, _) in headers.items()}
    for name, words in declared.items():  # 'as in `responses`' says nothing more than the views that are read
        explained[f"stored_{name}"] = {at: said for at, said in words.items() if not said.startswith("as in ")}
    rows: list[dict[str, str]] = []
    for view, column, type_name in connection.execute(_QUERY, {"view": only}).fetchall():
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
    """The comments that stand beside the columns of a table's row type, and of the types that it is made from."""
    rows = [row for row in reversed(table.row.__mro__) if is_dataclass(row)]
    return {name: said for row in rows for name, said in _field_comments(row)}


def _field_comments(row: type[Any]) -> Iterator[tuple[str, str]]:
    file = inspect.getsourcefile(row)
    lines = _classes(Path(file)).get(row.__qualname__) if file is not None else None
    with suppress(OSError):  # a type that no source has, as it was made from another
        lines = lines or inspect.getsourcelines(row)[0]
    tokens = list(tokenize.generate_tokens(iter(lines or ()).__next__))
    names = {token.start[0]: token.string for token in tokens if _begins_line(token)}
    for token in tokens:
        if token.type == tokenize.COMMENT and token.start[0] in names:
            yield names[token.start[0]], token.string.removeprefix("#").strip()


def _begins_line(token: tokenize.TokenInfo) -> bool:
    return token.type == tokenize.NAME and not token.line[: token.start[1]].strip()


@cache
def _classes(file: Path) -> dict[str, list[str]]:
    """The lines of the classes of a module, by name. `inspect` parses the module again for each class."""
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    classes = (node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
    return {node.name: lines[node.lineno - 1 : node.end_lineno] for node in classes}
