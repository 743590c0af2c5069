"""The page of the linker's tables says what the SQL does: which tables there are, what makes and what reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.sql_header import read_sql
from polyculture.link.linker import TABLES
from tests.link_world import index_of, item, link_all

LINK = Path(__file__).parents[2] / "link"
SQL = LINK / "sql"
PAGE = SQL / "README.md"
EXECUTED = re.compile(r"statement\(\"(\w+)\"\)")
CREATED = re.compile(r"^CREATE (?:OR REPLACE )?(?:TEMP )?(?:TABLE|VIEW) (\w+)", re.MULTILINE)
IN_PYTHON = re.compile(r"\.create(?:_view)?\(\"(\w+)\"|CREATE (?:TABLE|VIEW) (\w+) AS|connection\.register\(\"(\w+)\"")
READ = re.compile(r"(?:\bFROM|\bJOIN|\bINTO|\bUSING|\bonly_pages\('|\bother_occupation\(')\s*(\w+)")
OPENED = re.compile(r"""\.table\("(\w+)"\)|_languages\(connection, catalog, "(\w+)"\)""")
NAMED_QUERY = re.compile(r"\b(\w+) AS (?:MATERIALIZED )?\(")
ROW = re.compile(r"^\| `(\w+)` \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
MODULES = ("linker", "queries", "ontology", "name_forms", "variants", "within", "attribution", "fuzzy", "calibration")
MODULES += ("query_expansion", "kind_words", "api/source")


def modules() -> dict[str, str]:
    """The modules of linking by name."""
    return {f"{module}.py": (LINK / f"{module}.py").read_text(encoding="utf-8") for module in MODULES}


def statements() -> dict[str, str]:
    """The SQL that these execute, by file name, without comments."""
    names = {name for text in modules().values() for name in EXECUTED.findall(text)} | set(TABLES)
    return {name: re.sub(r"--.*", "", (SQL / f"{name}.sql").read_text(encoding="utf-8")) for name in sorted(names)}


def made() -> Iterator[tuple[str, str]]:
    """Every table and view with what makes it: an SQL file, or a module."""
    for name, text in statements().items():
        yield from ((table, name) for table in CREATED.findall(text))
    for module, text in modules().items():
        yield from ((next(filter(None, groups)), module) for groups in IN_PYTHON.findall(text))


def read() -> Iterator[tuple[str, str]]:
    """Every table with an SQL file or module that reads or fills it, other than the one that makes it."""
    tables, makers = {table for table, _ in made()}, set(made())
    for module, text in modules().items():
        opened = {one or other for one, other in OPENED.findall(text)}
        yield from ((table, module) for table in tables & opened)
    for name, text in statements().items():
        for table in tables & (set(READ.findall(text)) - set(NAMED_QUERY.findall(text))):
            if (table, name) not in makers:
                yield table, name


def pairs(column: int) -> set[tuple[str, str]]:
    """The tables of the page with the entries of a column."""
    return {
        (row[0], entry) for row in ROW.findall(PAGE.read_text("utf-8")) for entry in re.findall("`(.+?)`", row[column])
    }


def test_each_table_has_one_row() -> None:
    rows = [row[0] for row in ROW.findall(PAGE.read_text(encoding="utf-8"))]
    assert sorted(rows) == sorted({table for table, _ in made()})


@pytest.mark.parametrize(("column", "true"), [(2, made), (3, read)], ids=["made by", "read by"])
def test_the_page_says_what_makes_and_reads_a_table(column: int, true: Any) -> None:
    assert pairs(column) ^ set(true()) == set()


def test_rows_stand_in_the_order_in_which_tables_come_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run: list[str] = []

    def recorded(folder: Path, name: str) -> str:
        run.append(name)
        return read_sql(folder, name)

    monkeypatch.setattr("polyculture.link.statements.read_sql", recorded)
    book = item("Q1", {"en": "1984"}, P31="Q7725634", P50="Q3")
    writer = item("Q3", {"en": "George Orwell"}, P31="Q5", P106="Q36180")
    source = index_of(tmp_path, [item("Q2", {"en": "tacos"}, P31="Q746549"), book, writer])
    run.clear()
    surfaces = ("tacos", "taco", "a plate of tacoz", "tacos of Nowhere", "taccos al horno", "1984 by George Orwell")
    link_all(source, *[("en", *kind, text) for text in surfaces for kind in (("food", "dish"), ("book", "title"))])
    first = {name: place for place, name in reversed(list(enumerate(run)))}
    rows = [(row[0], re.findall("`(.+?)`", row[2])) for row in ROW.findall(PAGE.read_text(encoding="utf-8"))]
    places = [(table, [first[maker] for maker in makers if maker in first]) for table, makers in rows]
    order = [(min(makers), table) for table, makers in places if makers]
    assert len(order) > 40
    assert order == sorted(order, key=lambda pair: pair[0])
