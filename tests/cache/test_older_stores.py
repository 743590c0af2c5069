"""Stores of earlier versions: columns that came later are null in them, and nothing in them is asked again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import RESPONSES
from polyculture.cache.store import open_store
from tests.polyculture.test_command_line import one_line, polyculture
from tests.servers import StubServer
from tests.store_builder import TABLES
from tests.test_nothing_is_lost import run_folder, write_experiment


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer() as server:
        yield server


def made_older(run: RunFolder, *columns: str) -> None:
    """Takes columns out of every part: those that came later, and `columns`."""
    for table in TABLES.values():
        for part in run.root.glob(f"{table.name}/**/part-*.parquet"):
            rows = pq.read_table(part)
            pq.write_table(
                rows.drop_columns([c for c in rows.column_names if c in {*table.later_columns, *columns}]), part
            )


def purchases(run: RunFolder) -> list[tuple[str | None, int]]:
    with open_store(run) as store:
        return store.sql("SELECT purchase, count(*) FROM responses GROUP BY ALL ORDER BY ALL").fetchall()


def test_an_older_store_is_read_topped_up_and_taken_over(tmp_path: Path, stub: StubServer) -> None:
    assert RESPONSES.later_columns == {
        "purchase",
        "reasoning",
        "reasoning_tokens",
        "refused",
        "setup_id",
        "note",
        "origin",
    }
    older, beside = (write_experiment(tmp_path / "here", stub.url, n=2), tmp_path / "here" / "beside.toml")
    text = older.read_text(encoding="utf-8").replace("openai:reader", "gazetteer")
    older.write_text(text, encoding="utf-8")
    beside.write_text(text.replace('name = "run"', 'name = "beside"'), encoding="utf-8")
    assert polyculture("generate", older, cwd=older.parent).returncode == 0
    made_older(run_folder(older))
    assert purchases(run_folder(older)) == [(None, 6)]
    shown = polyculture("status", older, "--format", "csv", cwd=older.parent)
    assert ",6,6," in shown.stdout, shown
    older.write_text(text.replace("n = 2", "n = 3"), encoding="utf-8")
    assert polyculture("run", older, cwd=older.parent).returncode == 0
    assert purchases(run_folder(older)) == [("direct", 3), (None, 6)]
    asked = len(stub.asked)
    assert polyculture("generate", beside, cwd=older.parent).returncode == 0
    assert len(stub.asked) == asked == 9


def test_a_store_without_a_column_that_is_needed_is_one_line(tmp_path: Path, stub: StubServer) -> None:
    experiment = write_experiment(tmp_path, stub.url, n=2)
    assert polyculture("generate", experiment, cwd=tmp_path).returncode == 0
    made_older(run_folder(experiment), "finish_reason")
    for words in (("generate", experiment), ("sql", experiment, "select 1")):
        line = one_line(polyculture(*words, cwd=tmp_path))
        assert "has no column finish_reason: another version of Polyculture wrote it" in line
        assert "/responses/model=" in line
        assert "begin a new one" in line
