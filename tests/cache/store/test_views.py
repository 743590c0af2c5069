"""A store's tables and views are made when a query names them, each once, with what they rest on and nothing else."""

from __future__ import annotations

import threading
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from polyculture.cache.errors import StoreError
from polyculture.cache.store.layout import Layer, Layout, compose
from polyculture.cache.store.queries import interrupted_after
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.sql_file import names_in
from polyculture.cache.store.store import Store, open_store
from polyculture.cache.store.views import statements_of
from polyculture.metrics import KEPT
from polyculture.running.layout import store_layout
from tests.store_builder import StoreBuilder

CONSTANTS = ("declared_metrics", "count_bets", "equal_stakes")  # are there whatever a run holds


def beside(*views: Path) -> Layout:
    return compose(CORE, Layout(views=Layer(views)))


def models(run: RunFolder, *views: Path) -> list[tuple[str]]:
    with open_store(run, beside(*views)) as store:
        return store.sql("SELECT model FROM run_models").fetchall()


def made(store: Store) -> set[str]:
    """What the store's database holds. Not asked through the store, which would make all."""
    query = """
        SELECT view_name FROM duckdb_views() WHERE NOT internal AND database_name = current_database()
        UNION ALL SELECT table_name FROM duckdb_tables() WHERE NOT temporary AND database_name = current_database()
    """
    return {name for (name,) in store.execute("SELECT 1").execute(query).fetchall()}


def test_two_runs_that_are_open_do_not_share_rows(tmp_path: Path) -> None:
    one, other = (StoreBuilder(tmp_path / model, models=(model,)).write() for model in ("one", "other"))
    query = "SELECT model FROM run_models"
    with open_store(one) as first, open_store(other) as second:
        found = [store.sql(query).fetchall() for store in (first, second, first)]
    assert found == [[("one",)], [("other",)], [("one",)]]


def test_other_sql_is_seen_at_once(tmp_path: Path) -> None:
    run, view = StoreBuilder(tmp_path / "run").write(), tmp_path / "view.sql"
    for number in (1, 2):
        view.write_text(f"CREATE VIEW answer AS SELECT {number} AS number", encoding="utf-8")
        with open_store(run, beside(view)) as store:
            assert store.sql("SELECT number FROM answer").fetchall() == [(number,)]


def test_a_run_is_read_as_it_was_when_its_store_was_opened(tmp_path: Path) -> None:
    run = StoreBuilder(tmp_path / "run", models=("one",)).write()
    with open_store(run) as before:
        StoreBuilder(tmp_path / "run", models=("one", "other")).write()
        with open_store(run) as now:
            assert [len(store.sql("FROM run_models").fetchall()) for store in (before, now)] == [1, 2]


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[object, ...], object]:
    """No store of before has left views that could be copied; where they are kept from now on."""
    kept: dict[tuple[object, ...], object] = {}
    monkeypatch.setattr("polyculture.cache.store.store._bound", kept)
    return kept


def test_every_view_can_be_asked_alone_with_what_it_rests_on(alone: dict[tuple[object, ...], object]) -> None:
    layout = store_layout()
    every = {name: sql for name, sql in statements_of(layout) if isinstance(sql, str)}
    read = {name for sql in every.values() for name in names_in(sql)}
    for view in (name for name, sql in every.items() if sql.startswith("CREATE VIEW") and name not in read):
        with open_store(None, layout) as store:
            assert bool(store.table(view).fetchall()) == (view in CONSTANTS), view
            assert view in made(store)
            assert len(made(store)) < len(every) / 2
        alone.clear()


def test_what_is_made_one_by_one_or_copied_is_what_is_made_at_once(alone: dict[tuple[object, ...], object]) -> None:
    layout = store_layout()
    columns = """
        SELECT table_name, column_name, data_type FROM duckdb_columns()
        WHERE database_name = current_database() AND schema_name = 'main' ORDER BY ALL
    """
    with open_store(None, layout) as whole, open_store(None, layout) as stepwise:
        for view in reversed(stepwise.views):
            stepwise.table(view)
        for store in (whole, stepwise):
            assert store.sql("FROM consensus").fetchall() == []
        assert stepwise.sql(columns).fetchall() == whole.sql(columns).fetchall()
        for _ in range(2):
            with open_store(None, layout) as copied:
                assert copied.table("consensus").fetchall() == []
                assert made(copied) > {"consensus", "saturation"}
                assert copied.sql(columns).fetchall() == whole.sql(columns).fetchall()
                assert copied.sql("FROM dictionary").fetchall() == whole.sql("FROM dictionary").fetchall()


def test_views_that_are_copied_have_the_rows_of_their_own_run(
    tmp_path: Path, alone: dict[tuple[object, ...], object]
) -> None:
    """Also where the next run has no file of a table, where a view was not copied, and where a file cannot be read."""
    builder = StoreBuilder(tmp_path / "one", models=("one",))
    builder.answer(builder.ask("en"), ["ramen"])
    one, none = builder.write(), StoreBuilder(tmp_path / "none", models=("none",)).write()
    answered = {}
    for run in (one, none, one, none):
        with open_store(run, store_layout()) as store:
            views = ("mentions", "run_models", "health", *(("saturation",) if len(answered) else ()))
            found = [store.sql(f"FROM {view}").fetchall() for view in views]
            assert len(found[0]) == (run is one)
            assert found[1] == [(run.root.name,)]
            assert answered.setdefault(run, found)[:3] == found[:3]
            assert not {"stored_scores", "stored_answers"} & made(store)
    one.table("links").write_bytes(b"no Parquet")
    with open_store(one, store_layout()) as store:
        for _ in range(2):
            with pytest.raises(pa.ArrowInvalid, match=r"links\.parquet"):
                store.sql("FROM links")
        assert store.sql("FROM run_models").fetchall() == [("one",)]


@pytest.mark.parametrize("query", [
    "FROM ((responses JOIN extractions USING (response_id)) AS r JOIN prompts USING (prompt_id))",
    "FROM prompts, \"extractions\" AS e, main.responses", "PIVOT responses ON status USING count(*)",
    "SELECT 1 WHERE EXISTS (FROM granularity)", "DESCRIBE health", "SUMMARIZE links", "SHOW TABLES",
    "SELECT view_name FROM duckdb_views() WHERE view_name = 'saturation'",
    "SELECT * FROM information_schema.tables WHERE table_name = 'saturation'",
    "FROM query_table('responses')",
])  # fmt: skip
def test_a_view_is_found_wherever_a_query_names_it(query: str) -> None:
    with open_store(None, store_layout()) as store:
        store.sql(query).fetchall()
    if "saturation" in query:
        with open_store(None, store_layout()) as store:
            assert store.sql(query).fetchall()


def test_of_a_table_that_nobody_asks_for_no_file_is_read(tmp_path: Path) -> None:
    run = StoreBuilder(tmp_path / "run").write()
    run.table("links").write_bytes(b"no Parquet")
    for sandbox in (None, tmp_path / "spill"):
        with open_store(run, store_layout(), KEPT, sandbox=sandbox) as store:
            assert store.sql("SELECT model FROM models").fetchall() == [("m",)]
            for _ in range(2):  # what could not be made is not taken to be there
                with pytest.raises(pa.ArrowInvalid, match=r"links\.parquet"):
                    store.sql("FROM links")
            assert store.sql("SELECT model FROM models").fetchall() == [("m",)]


def test_a_view_that_is_kept_is_read_once(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "run")
    builder.answer(builder.ask("en"), ["ramen"])
    run = builder.write()
    query = "SELECT count(*) FROM cell_mentions"
    with open_store(run, store_layout(), KEPT) as store, open_store(run, store_layout()) as other:
        assert "read_parquet" not in str(store.sql(f"EXPLAIN {query}").fetchall()).lower()
        assert "read_parquet" in str(other.sql(f"EXPLAIN {query}").fetchall()).lower()
        assert store.sql(query).fetchall() == other.sql(query).fetchall()


@pytest.mark.parametrize("sandboxed", [False, True])
def test_threads_ask_different_views_at_once(tmp_path: Path, sandboxed: bool) -> None:
    builder = StoreBuilder(tmp_path / "run")
    builder.answer(builder.ask("en"), ["ramen"])
    run = builder.write()
    found: dict[str, int] = {}
    faults: list[Exception] = []

    def ask(cursor: Store, view: str) -> None:
        try:
            with cursor:
                found[view] = len(cursor.sql(f"FROM {view}").fetchall())
        except (duckdb.Error, StoreError) as fault:
            faults.append(fault)

    views = ("responses", "mentions", "granularity", "health", "diversity", "saturation", "links", "consensus")
    with open_store(run, store_layout(), sandbox=tmp_path / "spill" if sandboxed else None) as store:
        threads = [threading.Thread(target=ask, args=(store.cursor(), view)) for view in views]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert faults == []
        assert found == {view: len(store.sql(f"FROM {view}").fetchall()) for view in views}
    assert found["responses"] == found["mentions"] == 1


def test_a_store_that_was_interrupted_answers_again(tmp_path: Path) -> None:
    run = StoreBuilder(tmp_path / "run").write()
    endless = """
        SELECT count(*) FROM range(10_000_000) a, range(10_000_000) b
        WHERE a.range * b.range % 7 = 3 OR EXISTS (FROM saturation)
    """
    for seconds in (0.0, 0.3):  # at once: while the views are made
        with open_store(run, store_layout()) as store:
            with interrupted_after(seconds, store), pytest.raises(duckdb.InterruptException):
                store.execute(endless)
            assert store.sql("SELECT count(*) FROM responses").fetchall() == [(0,)]


def test_a_name_that_is_no_view_is_duckdbs_own_error(tmp_path: Path) -> None:
    with open_store(StoreBuilder(tmp_path / "run").write()) as store:
        with pytest.raises(duckdb.CatalogException, match="responses"):
            store.sql("FROM response")
        with pytest.raises(StoreError, match="no run"):
            open_store(RunFolder(tmp_path / "elsewhere"))


def test_a_statement_that_does_not_begin_a_line_is_refused(tmp_path: Path) -> None:
    (tmp_path / "view.sql").write_text("  CREATE VIEW answer AS SELECT 1 AS number", encoding="utf-8")
    with pytest.raises(ValueError, match=r"view\.sql.*statement"):
        open_store(None, beside(tmp_path / "view.sql"))
