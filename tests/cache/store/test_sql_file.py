"""A table is declared once: the header of its SQL file says what it is, and everything that shows it reads that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from polyculture.cache.errors import StoreError
from polyculture.cache.store.sql_file import DeclaredTable, Parameter, limits, read_headers, read_table
from polyculture.cache.store.store import Store, open_store
from polyculture.running.layout import store_layout
from polyculture.running.tables import all_tables

SQL = """\
-- Lengths of texts
-- lengths: a row is a model in a language. A text that
-- failed has none.
--   letters: mean number of letters,
--     blanks included
--   $fewest = 1: texts that a row has at least
--   $word = NULL: texts with this word alone
--   $by = model|a word: what is counted
-- printed: model, letters
-- no rows: no text was written yet
SELECT model, language, letters, low, high
FROM (VALUES ('b', 'ja', 2.5, 1.0, 3.0), ('a', 'en', 9.0, NULL, NULL), ('c', 'en', 1.0, 0.5, 2.0))
    AS texts (model, language, letters, low, high)
WHERE letters >= $fewest AND $word IS NULL AND $by <> ''
ORDER BY letters DESC
"""


@pytest.fixture
def lengths(tmp_path: Path) -> DeclaredTable:
    file = tmp_path / "lengths.sql"
    file.write_text(SQL, encoding="utf-8")
    return read_table(file)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with open_store(None, store_layout()) as store:
        yield store


def test_header_is_read(lengths: DeclaredTable) -> None:
    header = lengths.header
    assert (header.name, header.title) == ("lengths", "Lengths of texts")
    assert header.row == "a row is a model in a language. A text that failed has none."
    assert header.columns == {"letters": "mean number of letters, blanks included"}
    assert header.parameters["fewest"] == Parameter(1, "texts that a row has at least")
    assert header.parameters["word"].default is None
    assert header.parameters["by"] == Parameter("model", "what is counted", ("model", "a word"))
    assert header.printed == ("model", "letters")
    assert header.no_rows == "no text was written yet"


def test_views_of_one_file_have_a_header_each() -> None:
    text = (
        "-- What all views share.\n\n-- one: a row is one.\n--   a: the letter\nCREATE ...;\n\n-- two: a row is two.\n"
    )
    found = list(read_headers(text))
    assert [(one.name, one.row, one.title) for one in found] == [
        ("one", "a row is one.", ""),
        ("two", "a row is two.", ""),
    ]
    assert found[0].columns == {"a": "the letter"}


def test_a_parameter_takes_no_value_but_those_that_it_names(lengths: DeclaredTable) -> None:
    assert lengths.parameters({"by": "a word"})["by"] == "a word"
    with pytest.raises(StoreError, match="by of the table lengths is no 'nosuch'") as fault:
        lengths.parameters({"by": "nosuch"})
    assert "'a word'" in str(fault.value.remedy)


def test_values_are_parameters_or_filters_and_keep_the_order(lengths: DeclaredTable) -> None:
    with duckdb.connect() as connection:
        assert [row[0] for row in lengths.select(connection).fetchall()] == ["a", "b", "c"]
        assert [row[0] for row in lengths.select(connection, {"fewest": 2}).fetchall()] == ["a", "b"]
        chosen = lengths.select(connection, {"model": ["c", "a"], "language": "en"})
        assert [row[0] for row in chosen.fetchall()] == ["a", "c"]
        assert [row[0] for row in lengths.select(connection, {"low": None}).fetchall()] == ["a"]
        with pytest.raises(StoreError, match=r"neither.*parameter") as fault:
            lengths.select(connection, {"letter": 1})
        assert "letters" in str(fault.value.remedy)


def test_text_with_its_values_can_be_run(lengths: DeclaredTable) -> None:
    with duckdb.connect() as connection:
        assert len(connection.sql(lengths.filled({"fewest": 2}))) == 2
    assert "'it''s'" in lengths.filled({"word": "it's"})


def test_a_file_without_title_or_of_another_name_is_refused(tmp_path: Path) -> None:
    for text in ("-- one: a row is one.\nSELECT 1", "-- Title\n-- other: a row is one.\nSELECT 1", "SELECT 1"):
        file = tmp_path / "one.sql"
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=r"one\.sql.*header"):
            read_table.__wrapped__(file)


def test_limits_belong_to_their_column() -> None:
    columns = ["model", "share", "low", "high", "gain", "gain_low", "gain_high"]
    assert limits(columns) == {"gain": ("gain_low", "gain_high"), "share": ("low", "high")}


def queries() -> list[DeclaredTable]:
    """The tables that SQL alone gives."""
    return [table.declared for table in all_tables().values() if table.computed is None]


@pytest.mark.parametrize("table", queries(), ids=lambda table: table.name)
def test_every_table_runs_and_says_what_its_columns_are(table: DeclaredTable, store: Store) -> None:
    rows = table.select(store)
    assert not [name for name, meaning in table.meanings(store, rows.columns).items() if not meaning]
    said = {*table.header.printed, *table.header.columns}
    assert not said - set(rows.columns), "explains or prints what is not selected"
    for name, (low, high) in limits(rows.columns).items():
        assert {low, high} <= set(rows.columns), name
