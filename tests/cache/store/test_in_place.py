"""A run that was copied or moved never answers from the files of the run that it was copied from."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.cache.store.store_file import write_store_file
from tests.store_builder import StoreBuilder

QUESTION = "SELECT language, count(*) FROM responses GROUP BY ALL"


def write(folder: Path, languages: Sequence[str]) -> RunFolder:
    """A run with a response in each of the languages, and its `store.duckdb`."""
    builder = StoreBuilder(folder)
    for language in languages:
        builder.answer(builder.ask(language), ["ramen"])
    run = builder.write()
    export(run)
    return run


def export(run: RunFolder) -> None:
    """Writes the run's `store.duckdb`."""
    with open_store(run) as store:
        write_store_file(run, store)


def plain(run: RunFolder, query: str = QUESTION) -> list[Any]:
    """What DuckDB alone answers from `store.duckdb`."""
    with duckdb.connect(run.store, read_only=True) as connection:
        return sorted(connection.sql(query).fetchall())


@pytest.fixture
def original(tmp_path: Path) -> RunFolder:
    return write(tmp_path / "runs" / "one", ["en", "ja"])


def copied(run: RunFolder) -> RunFolder:
    return RunFolder(Path(shutil.copytree(run.root, run.root.parent / "two")))


def test_a_run_answers_where_it_was_written(original: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(original.root.parent)
    assert plain(original) == [("en", 1), ("ja", 1)]
    with duckdb.connect("one/store.duckdb", read_only=True) as connection:
        assert connection.sql("SELECT count(*) FROM mentions").fetchall() == [(2,)]


@pytest.mark.parametrize("query", [QUESTION, "SELECT count(*) FROM stored_responses", "SELECT surface FROM mentions"])
def test_a_copy_is_refused_whether_the_original_is_there_or_not(original: RunFolder, query: str) -> None:
    """Before, a copy of a run read the files of the original in silence."""
    copy = copied(original)
    with pytest.raises(duckdb.Error, match=rf"copied or moved.*{copy.store}.*{original.root}.*polyculture report"):
        plain(copy, query)
    shutil.rmtree(original.root)
    with pytest.raises(duckdb.Error, match=r"copied or moved|No files found"):
        plain(copy, query)


def test_a_copy_beside_its_original_is_refused(original: RunFolder) -> None:
    copy = copied(original)
    with duckdb.connect(":memory:") as connection:
        for name, run in (("one", original), ("two", copy)):
            connection.execute(f"ATTACH '{run.store}' AS {name} (READ_ONLY)")
        with pytest.raises(duckdb.Error, match="copied or moved"):
            connection.sql("FROM two.responses").fetchall()


def test_two_runs_are_read_side_by_side(original: RunFolder) -> None:
    other = write(original.root.parent / "other", ["it"])
    with duckdb.connect(":memory:") as connection:
        for name, run in (("one", original), ("other", other)):
            connection.execute(f"ATTACH '{run.store}' AS {name} (READ_ONLY)")
        query = "SELECT (SELECT count(*) FROM one.responses), (SELECT count(*) FROM other.responses)"
        assert connection.sql(query).fetchall() == [(2, 1)]


def test_a_copy_answers_from_its_own_files_once_it_is_written(original: RunFolder) -> None:
    copy = copied(original)
    for parent in (copy.root, copy.root / "inventory"):
        shutil.rmtree(parent / "responses" / "model=m" / "language=ja")
    with open_store(copy) as store:  # it never reads the file that was copied
        assert store.sql(QUESTION).fetchall() == [("en", 1)]
    export(copy)
    assert plain(copy) == [("en", 1)]
    assert plain(original) == [("en", 1), ("ja", 1)]
    shutil.rmtree(original.root)
    assert plain(copy) == [("en", 1)]


def test_a_run_is_known_by_every_path_that_leads_to_it(original: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(original.root.parent)
    by_link = RunFolder(tmp_path / "link" / "one")
    export(by_link)
    assert plain(by_link) == plain(original) == [("en", 1), ("ja", 1)]


def test_the_file_has_every_view_and_what_they_mean(original: RunFolder) -> None:
    with duckdb.connect(original.store, read_only=True) as file, open_store(original) as store:
        for query in ("FROM dictionary ORDER BY ALL", "FROM responses", "FROM failures", "FROM run_models"):
            assert file.sql(query).fetchall() == store.sql(query).fetchall(), query


@pytest.mark.parametrize("left", [None, b"", b"no database"])
def test_what_is_in_the_file_changes_no_answer(original: RunFolder, left: bytes | None) -> None:
    original.store.unlink()
    if left is not None:
        original.store.write_bytes(left)
    with open_store(original) as store:
        assert sorted(store.sql(QUESTION).fetchall()) == [("en", 1), ("ja", 1)]
    assert (original.store.read_bytes() if original.store.exists() else None) == left
    export(original)
    assert plain(original) == [("en", 1), ("ja", 1)]


def test_a_file_that_somebody_reads_is_replaced(original: RunFolder) -> None:
    with duckdb.connect(original.store, read_only=True) as reader:
        export(original)
        assert sorted(reader.sql(QUESTION).fetchall()) == [("en", 1), ("ja", 1)]
    assert plain(original) == [("en", 1), ("ja", 1)]
    assert sorted(path.name for path in original.root.glob("*store*")) == ["store.duckdb"]
