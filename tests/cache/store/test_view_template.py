"""The views of a store are made once and kept on the machine; what is kept never stands for other SQL."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest

from polyculture.cache.database import connect
from polyculture.cache.store.layout import Layer, Layout, compose
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.store import open_store
from polyculture.cache.store.view_template import create_views, needed, statements_of
from polyculture.metrics import KEPT
from polyculture.running.layout import store_layout
from tests.store_builder import StoreBuilder


def beside(*views: Path) -> Layout:
    return compose(CORE, Layout(views=Layer(views)))


def models(run: RunFolder, *views: Path) -> list[tuple[str]]:
    with open_store(run, beside(*views)) as store:
        return store.sql("SELECT model FROM run_models").fetchall()


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POLYCULTURE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "stores"


def test_runs_share_what_is_kept_and_not_their_rows(tmp_path: Path, kept: Path) -> None:
    one, other = (StoreBuilder(tmp_path / model, models=(model,)).write() for model in ("one", "other"))
    assert models(one) == [("one",)]
    (file,) = kept.iterdir()
    written = file.stat().st_mtime_ns
    assert (models(other), models(one)) == ([("other",)], [("one",)])
    assert [path.stat().st_mtime_ns for path in kept.iterdir()] == [written]


def test_other_sql_is_another_file(tmp_path: Path, kept: Path) -> None:
    run, view = StoreBuilder(tmp_path / "run").write(), tmp_path / "view.sql"
    for number in (1, 2):
        view.write_text(f"CREATE VIEW answer AS SELECT {number} AS number", encoding="utf-8")
        with open_store(run, beside(view)) as store:
            assert store.sql("SELECT number FROM answer").fetchall() == [(number,)]
    assert len(list(kept.iterdir())) == 2


def test_what_an_older_version_left_behind_goes_after_a_month(tmp_path: Path, kept: Path) -> None:
    run = StoreBuilder(tmp_path / "run").write()
    kept.mkdir(parents=True)
    for name in ("old", "young"):
        (kept / f"{name}.duckdb").touch()
    os.utime(kept / "old.duckdb", (0, 0))
    models(run)
    assert {path.name for path in kept.iterdir()} > {"young.duckdb"}
    assert not (kept / "old.duckdb").exists()


def test_a_cache_folder_that_cannot_be_written_is_done_without(tmp_path: Path, kept: Path) -> None:
    kept.parent.write_text("no folder", encoding="utf-8")
    assert models(StoreBuilder(tmp_path / "run").write()) == [("m",)]


def test_a_store_that_is_open_is_opened_again_as_it_is_now(tmp_path: Path, kept: Path) -> None:
    run = StoreBuilder(tmp_path / "run", models=("one",)).write()
    with open_store(run) as before:
        StoreBuilder(tmp_path / "run", models=("one", "other")).write()
        with open_store(run) as now:
            assert [len(store.sql("FROM run_models").fetchall()) for store in (before, now)] == [1, 2]


@pytest.mark.parametrize("left", [b"", b"garbage", None])
def test_a_damaged_one_is_made_again(tmp_path: Path, kept: Path, left: bytes | None) -> None:
    run = StoreBuilder(tmp_path / "run").write()
    models(run)
    (file,) = kept.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if left is None else left)
    assert models(run) == [("m",)]
    assert len(file.read_bytes()) == len(whole)


def test_every_view_can_be_asked_alone_with_what_it_rests_on() -> None:
    layout = store_layout()
    every = statements_of(layout)
    resting = {name: {below for below, _ in needed(every, f"FROM {name}")} - {name} for name, _ in every}
    for view, sql in every:
        on_top = not any(view in below for below in resting.values())
        if on_top and isinstance(sql, str) and sql.startswith("CREATE VIEW"):
            with connect() as store:
                create_views(store, layout, asked=f"SELECT count(*) FROM {view}")
                # The declared metrics are there whatever a run holds.
                assert bool(store.table(view).fetchall()) == (view == "declared_metrics")
        assert len(resting[view]) < len(every) / 2


def test_tables_are_found_behind_any_number_of_parentheses() -> None:
    with connect() as store:
        query = "FROM ((responses JOIN extractions USING (response_id)) AS r JOIN prompts USING (prompt_id))"
        create_views(store, store_layout(), asked=query)
        assert store.sql(query).fetchall() == []


def test_of_a_query_that_is_known_no_other_file_is_read(tmp_path: Path) -> None:
    run = StoreBuilder(tmp_path / "run").write()
    run.table("links").write_bytes(b"no Parquet")
    query = "SELECT model FROM models"
    with open_store(run, store_layout(), KEPT, at=tmp_path / "some.duckdb", asked=query) as store:
        assert store.sql(query).fetchall() == [("m",)]
    with pytest.raises(pa.ArrowInvalid, match=r"links\.parquet"):
        open_store(run, store_layout(), at=tmp_path / "all.duckdb")


def test_a_statement_that_does_not_begin_a_line_is_refused(tmp_path: Path) -> None:
    (tmp_path / "view.sql").write_text("  CREATE VIEW answer AS SELECT 1 AS number", encoding="utf-8")
    with connect() as store, pytest.raises(ValueError, match=r"view\.sql.*statement"):
        create_views(store, beside(tmp_path / "view.sql"))
