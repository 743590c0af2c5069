"""`docs/tables.md` and its drawing are what the store's dictionary says.

python -m tests.docs.test_tables_page    # writes both anew
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import pytest

from polyculture.cache.layout import Layout
from polyculture.cache.sql_file import Header
from polyculture.cache.store import open_store
from polyculture.instruments import INSTRUMENTS
from polyculture.metrics import METRICS
from polyculture.running.layout import store_layout
from polyculture.running.tables import all_tables
from tests.docs.store_diagram import BOXES, LINES, Line, drawing
from tests.store_builder import StoreBuilder

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
PICTURE = PAGE.with_name("tables.svg")
HEAD = """# Tables

Everything that a run holds is a table or a view, read by SQL: `polyculture sql exp.toml "SELECT ..."`. This page
is made of the store's own dictionary, and a test holds them together. The same for your run, with every column:

    polyculture sql exp.toml --schema
    polyculture sql exp.toml --describe granularity

## The main tables

![Prompts lead to responses, these to mentions, these to links and items, and all of them to the metrics](tables.svg)

A line says that rows of one lead to rows of the other by the columns that both show. A **cell** is what a number is of:
a model, language, topic, condition, country and wording. How files lie on disk stands in [The store](store.md).
Thirteen worked questions are in [Queries](queries.md).

"""
READY = """## Tables that are ready to read

    polyculture table cbs exp.toml rule=mean language=ja --format csv -o cbs.csv

`polyculture table` lists them, `polyculture table NAME` says what the columns mean. `KEY=VALUE` is a parameter, or a
column whose rows are chosen. The report has the same tables as downloads. A table is one SQL file whose header says all
of this (`cache/sql_file.py`).

"""
LISTED = """## All views

What a row of each is. Views whose names begin with `stored_` hold all rows on disk, those of former
settings too. Those that begin with `run_` hold what the experiment asks now. Both are left out here.

"""


@cache
def dictionary() -> dict[str, dict[str, tuple[str, str]]]:
    """Per view: its columns with type and meaning; under the empty name what a row is."""
    found: dict[str, dict[str, tuple[str, str]]] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        open_store(StoreBuilder(Path(folder)).write(), store_layout()) as store,
    ):
        for view, column, kind, meaning in store.sql("FROM dictionary ORDER BY rowid").fetchall():
            found.setdefault(view, {})[column] = (kind, meaning)
    return found


def page() -> str:
    """The columns of the tables that the drawing shows, then a line a view, by the part that declares it."""
    columns = "".join(_columns(box.name) for box in BOXES)
    lists = "".join(f"### {title}\n\n{_listed(views)}\n\n" for title, views in _parts().items())
    return f"{HEAD}{columns}{READY}{_ready()}\n\n{LISTED}{lists}".rstrip() + "\n"


def _ready() -> str:
    """A line per declared table."""
    headers = [table.declared.header for table in all_tables().values()]
    rows = [f"| `{one.name}` | {_sentence(one.row)} | {_parameters(one)} |" for one in headers]
    return "\n".join(["| table | a row is | parameters |", "| --- | --- | --- |", *rows])


def _parameters(header: Header) -> str:
    return ", ".join(f"`{name}={one.default}`" for name, one in header.parameters.items() if one.default is not None)


def _columns(view: str) -> str:
    said = dictionary()[view]
    rows = [f"| `{name}` | {_plain(kind)} | {_plain(meaning)} |" for name, (kind, meaning) in said.items() if name]
    return (
        "\n".join(
            [
                f"### {view}\n",
                f"{_sentence(said[''][1])}\n",
                "| column | type | meaning |",
                "| --- | --- | --- |",
                *rows,
            ]
        )
        + "\n\n"
    )


def _parts() -> dict[str, list[str]]:
    """The views that a user asks, under the part whose layout brings them."""
    left = [view for view in dictionary() if not view.startswith(("stored_", "run_", "no_")) and view.isidentifier()]
    parts: dict[str, list[str]] = {}
    owners: list[tuple[str, Layout]] = [("Texts, entities and the four metrics", METRICS)]
    titles = [", ".join(f"`polyculture {command}`" for command in entry.commands) for entry in INSTRUMENTS]
    owners += [(title, one.layout) for title, one in zip(titles, INSTRUMENTS, strict=True)]
    for title, layout in owners:
        sql = "\n".join(file.read_text(encoding="utf-8") for file in layout.files)
        tables = {table.name for table in layout.tables}
        own = [view for view in left if view in tables or f"VIEW {view} " in sql or f"VIEW {view}\n" in sql]
        left = [view for view in left if view not in own]
        if own:
            parts[title] = own
    return parts | ({"Of several parts": left} if left else {})


def _listed(views: list[str]) -> str:
    rows = [f"| `{view}` | {_sentence(dictionary()[view][''][1])} |" for view in views]
    return "\n".join(["| view | a row is |", "| --- | --- |", *rows])


def _sentence(meaning: str) -> str:
    return _plain(meaning).removeprefix("a row is ")


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|").replace("<", "&lt;")


def test_the_page_is_what_the_dictionary_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew: python -m tests.docs.test_tables_page"


def test_the_drawing_is_the_one_that_is_shown() -> None:
    assert PICTURE.read_text(encoding="utf-8") == drawing()


def test_the_drawing_shows_columns_that_are_there() -> None:
    assert not [(box.name, column) for box in BOXES for column in box.columns if column not in dictionary()[box.name]]


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line.source}-{line.target}")
def test_a_line_stands_for_columns_of_both(line: Line) -> None:
    assert set(line.columns) <= dictionary()[line.source].keys() & dictionary()[line.target].keys()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    PICTURE.write_text(drawing(), encoding="utf-8")
