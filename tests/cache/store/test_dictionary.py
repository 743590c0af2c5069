"""The data dictionary: every view and every column of the store is explained, and the command prints it."""

from __future__ import annotations

import inspect
import tomllib
from dataclasses import is_dataclass

import pytest

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import RESPONSES
from polyculture.cache.store.sql_file import COLUMNS, read_headers, table_comments
from polyculture.cache.store.store import open_store
from polyculture.cache.store.views import RUN
from polyculture.instruments.datasets.layout import DATASET_CONTEXTS
from polyculture.instruments.swaps.layout import SWAP_QUESTIONS, WANTED_SWAPS
from polyculture.running.layout import store_layout
from tests.store_builder import StoreBuilder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return StoreBuilder(tmp_path_factory.mktemp("run")).write()


def test_every_view_and_column_is_explained(run: RunFolder) -> None:
    with open_store(run, store_layout()) as store:
        silent = store.sql("SELECT view, \"column\" FROM dictionary WHERE coalesce(meaning, '') = ''").fetchall()
        explained = store.sql("SELECT DISTINCT view FROM dictionary").fetchall()
        query = """
            SELECT DISTINCT table_name FROM duckdb_columns()
            WHERE database_name = current_database() AND NOT internal AND schema_name <> 'here'
        """
        there = store.sql(query).fetchall()
    assert not silent
    assert {*explained, ("dictionary",)} == set(there)


def test_nothing_is_explained_that_is_not_there(run: RunFolder) -> None:
    files = [RUN, *store_layout().files]
    with open_store(run, store_layout()) as store:
        known = set(store.sql('SELECT view, "column" FROM dictionary').fetchall())
        meanings = {meaning for (meaning,) in store.sql("SELECT DISTINCT meaning FROM dictionary").fetchall()}
    headers = [header for file in files for header in read_headers(file.read_text(encoding="utf-8"))]
    assert not {(header.name, column) for header in headers for column in header.columns} - known
    glossaries = {file.with_name(COLUMNS) for file in files if file.with_name(COLUMNS).exists()}
    assert len(glossaries) >= 6
    for file in glossaries:
        said = tomllib.loads(file.read_text(encoding="utf-8"))
        assert said.keys() == {"columns"}, "what a column of one view means stands above the view"
        assert set(said["columns"].values()) <= meanings, file


def test_a_table_is_explained_by_the_comments_of_its_type() -> None:
    for table in store_layout().tables:
        explained = table_comments(table)
        assert explained.keys() <= set(table.columns)
        # A row of a request follows from a row of an answer, and has no source.
        rows = [row for row in table.row.__mro__ if is_dataclass(row) and "of_answers" not in vars(row)]
        sources = [inspect.getsource(row) for row in rows]
        said = sum(source.count("  # ") for source in sources)
        assert len(explained) == said, "a comment that is not beside its field"
    assert table_comments(RESPONSES)["ending"].startswith("'whole' | 'cut'")


def test_a_column_of_a_joined_view_means_what_its_table_declares(run: RunFolder) -> None:
    """The text of a context was once explained as what stands before a question."""
    query = (
        "SELECT view, meaning FROM dictionary WHERE view IN ('swap_responses', 'swap_answers') AND \"column\" = $name"
    )
    with open_store(run, store_layout()) as store:
        for table, name in ((DATASET_CONTEXTS, "context"), (WANTED_SWAPS, "draw"), (SWAP_QUESTIONS, "asked_id")):
            said = dict(store.execute(query, {"name": name}).fetchall())
            assert said == dict.fromkeys(("swap_responses", "swap_answers"), table_comments(table)[name])


def test_a_column_may_mean_something_else_in_one_view(run: RunFolder) -> None:
    query = "SELECT meaning FROM dictionary WHERE view = $view AND \"column\" = 'country'"
    with open_store(run, store_layout()) as store:
        said = [store.execute(query, {"view": view}).fetchall() for view in ("granularity", "specificity")]
    assert said[0] != said[1]


def test_a_column_means_what_its_own_room_says(run: RunFolder) -> None:
    """`condition` of a metric was once explained as what stands before a multiple-choice question."""
    query = "SELECT view, meaning FROM dictionary WHERE \"column\" = 'condition'"
    with open_store(run, store_layout()) as store:
        said = dict(store.sql(query).fetchall())
    foreign = [view for view, meaning in said.items() if "'alone'" in meaning]
    assert not foreign
    assert said["granularity"].startswith("'neutral', 'explicit'")
